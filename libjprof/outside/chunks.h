/* The chunks of glibc's malloc, which lie one behind the other: each says its size, and whether the one before it is in
 * use. Source: malloc/malloc.c of glibc 2.26 to 2.42, struct malloc_chunk. What a thread caches counts as in use. */
#pragma once

#include "outside/memwindow.h"

enum { jp_chunk_least = 32, jp_chunk_head = 16 };

/* Memory in which chunks lie without a gap. */
struct jp_chunkspan {
	uint64_t start, end;
	uint64_t *begin; /* for each 16 bytes a bit: a chunk begins there */
	uint64_t *used;  /* likewise: it is in use, and nobody has taken it */
};

struct jp_chunks {
	struct jp_chunkspan *spans; /* by ascending address */
	size_t count, cap;
	uint64_t *mapped; /* by hash: those with pages of their own that were taken */
	size_t mapped_count;
};

/* 0, or -1 when memory is short. To be released. */
int jp_chunks_open(struct jp_chunks *chunks) jp_must_check;

/* Walks from a first chunk to the end, and adds the span if these are chunks: *unused gets the bytes of those that are
 * free. The spans are added in ascending order. 1; 0 where these are no chunks; -1 when memory is short. */
int jp_chunks_walk(struct jp_chunks *chunks, struct jp_memwindow *window, uint64_t first, uint64_t end,
                   uint64_t *unused) jp_must_check;

void jp_chunks_release(struct jp_chunks *chunks);

/* What malloc returned, from it on, of the chunk in use that it belongs to: sets the bytes that it has. Each is taken
 * once. A chunk with pages of its own has no span, and its head is read. False: it is none, or was taken. */
bool jp_chunks_take(struct jp_chunks *chunks, struct jp_memsource *source, uint64_t pointer, uint64_t *size);

/* The next chunk in use of at most so many bytes, with its head, from *span and *place on, which begin as 0: what
 * malloc returned for it; 0: there are no more. */
uint64_t jp_chunks_next(const struct jp_chunks *chunks, uint64_t size, size_t *span, uint64_t *place);
