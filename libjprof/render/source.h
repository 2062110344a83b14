/* Source files, whose paths debug information tells: nobody vouches for them, nor for what is in them. */
#pragma once

#include "base/reader.h"
#include "base/strbuf.h"
#include "model/code.h"

struct jp_source {
	struct jp_strbuf text;
	struct jp_span *lines;
	size_t count, cap;
	struct jp_strbuf trouble; /* what was tried, and why there are no lines; empty if there are */
	bool unread;              /* a file that may be there could not be opened or read; false if there are lines */
};

/* Why a source file is not to be read outside of --source-path where the debug information of the object's file names
 * it: such a file is evidence if nobody but root and the caller can have made it, or below a sysroot, where it names
 * nothing outside. NULL: it is; else words. What came with the input is never evidence: any file can be named there. */
const char *jp_source_doubt(const struct jp_code *code, uint32_t object);

/* Reads a source file, if there is one: see jprof_report_opts.source_path. Only regular files of at most 64 MiB are
 * read; with `doubt`, words, only below source_path. 0, or -1 when memory is short; to be released in any case. */
int jp_source_open(struct jp_source *source, const char *path, const char *doubt, const struct jp_code *code,
                   const struct jprof_report_opts *opts) jp_must_check;

/* Appends line `number`, from 1, without its end: control characters but tabs as \xNN. Nothing past the end. */
void jp_source_put(const struct jp_source *source, size_t number, struct jp_strbuf *out);

void jp_source_release(struct jp_source *source);
