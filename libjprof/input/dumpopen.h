/* Dumps in text: which format one is decides who reads it. */
#pragma once

#include "input/dumpdata.h"
#include "input/tablefile.h"

struct jp_stream;

/* Reads a stream, with the table of its Ruby stacks (NULL: none), to the end of both. A table that cannot be used, or
 * is not that of this very dump, is noted in the dump, and no error. As jprof_dump_parse. */
int jp_dump_read(struct jp_stream *stream, const struct jp_table_text *table, struct jprof_dump **dump,
                 struct jprof_error *err);
