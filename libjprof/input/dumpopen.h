/* Dumps in text: which format one is decides who reads it. */
#ifndef JP_INPUT_DUMPOPEN_H
#define JP_INPUT_DUMPOPEN_H

#include "input/dumpdata.h"

struct jp_stream;

/* Reads a stream to its end. As jprof_dump_parse. */
int jp_dump_read(struct jp_stream *stream, struct jprof_dump **dump, struct jprof_error *err);

#endif
