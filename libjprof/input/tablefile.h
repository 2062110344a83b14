/* The table of a dump's Ruby stacks, as a text beside it. */
#pragma once

#include "base/reader.h"
#include "base/strbuf.h"
#include "jprof.h"

struct jp_table_text {
	struct jp_span bytes;     /* ptr NULL: there is none, or it cannot be read */
	const char *name;         /* for messages */
	bool earlier;             /* it is that of an earlier dump of the same process */
	struct jprof_error error; /* why it cannot be read; code 0: it can */
	char *path;               /* of one that was found; it and its text are released */
	struct jp_strbuf text;
};

/* Takes the table beside a dump that the user named: FILE.ruby, also where FILE was compressed since. None is no
 * error. To be released in any case. */
int jp_tablefile_find(const char *path, struct jp_table_text *found, struct jprof_error *err);

void jp_table_text_release(struct jp_table_text *text);
