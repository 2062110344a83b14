/* The objects of a Ruby and what refers to what, out of a file that ObjectSpace.dump_all wrote: a line of JSON for each
 * object (ext/objspace/objspace_dump.c). Of Strings only their length is read. */
#pragma once

#include "rubyheap/heapbuild.h"

/* Reads a file, which may be compressed; "-" is standard input; `texts`: with what Strings say. Release in any case. */
int jp_heap_read(struct jp_heap *heap, const char *path, bool texts, struct jprof_error *err);
