/* The heaps of V8 in a process, for JavaScript: Node.js, and programs with V8 in them. Source: V8's
 * src/heap/memory-chunk-layout.h and mutable-page-metadata.h, 10.2 to 13.6: a heap is made of chunks that begin at
 * multiples of 256 KiB. Each has a record with its size, its heap and the first and last address that objects may have,
 * at its begin, or from 13 on where its second word points. */
#pragma once

#include "base/jsonout.h"
#include "outside/memsource.h"

struct jp_v8heap {
	uint64_t chunks; /* 0: there is no V8 */
	uint64_t bytes;  /* of them that are in memory */
	uint64_t space;  /* of them in all */
};

struct jp_v8heap jp_v8heap_find(struct jp_memsource *source);

/* Writes it as the member `v8` of an object. */
void jp_v8heap_write(const struct jp_v8heap *v8, struct jp_jsonout *out);
