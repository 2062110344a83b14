/* Which format is this? Answered from the first bytes, so that a whole file need not be read. */
#pragma once

#include "jprof.h"

enum jp_format {
	JP_FORMAT_UNKNOWN, /* no profile at all */
	JP_FORMAT_PACKED,  /* compressed; what is inside is not known yet */
	JP_FORMAT_HEAP,    /* a dump of jemalloc: heap_v2, or a version that is not known */
	JP_FORMAT_GPERF,   /* gperftools' heap or growth profile, in text */
	JP_FORMAT_RAW,     /* symbolized: names before one of the two above */
	JP_FORMAT_PPROF,   /* profile.proto */
	JP_FORMAT_BUNDLE,  /* a tar whose first file is bundle.json: docs/internals/bundle.md */
	JP_FORMAT_OTHER,   /* a profile, but not of memory, or not read */
};

enum jp_format jp_sniff(const void *data, size_t len);

/* Bytes of a block of a tar archive. */
enum { jp_tar_block = 512 };

/* Whether these first bytes are those of a tar archive; of one whose first file is bundle.json. */
bool jp_is_tar(const void *data, size_t len);
bool jp_is_bundle(const void *data, size_t len);

/* Says what a file is that no reader takes, and what to do with it. */
int jp_sniff_refuse(const void *data, size_t len, const char *name, struct jprof_error *err);
