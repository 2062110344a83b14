/* Dumps in text: which format one is decides who reads it. */
#ifndef JP_INPUT_DUMPOPEN_H
#define JP_INPUT_DUMPOPEN_H

#include "input/dumpdata.h"

/* As jprof_dump_parse; `damage` (may be NULL) says what was wrong with the compressed data around it. */
int jp_dump_parse(const void *data, size_t len, const char *name, const struct jprof_error *damage,
                  struct jprof_dump **dump, struct jprof_error *err);

#endif
