/* Has processes dump and makes profiles of it: what the child of heapanswers.h does. */
#ifndef JEPROF_HEAPMAKE_H
#define JEPROF_HEAPMAKE_H

#include "serve/serveopts.h"

/* Writes profile.proto into the descriptors: `heap`, which shows first what is in use, and `allocs`, which shows first
 * what was ever allocated. False after having said why there is none. */
bool heap_make(const struct serve_options *options, bool gc, int heap, int allocs);

#endif
