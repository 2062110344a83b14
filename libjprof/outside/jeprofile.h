/* The profile that jemalloc keeps with prof:true, read from its own records: what its prof.dump would write now. Each
 * sampled object has a page of its own, whose record leads to the context that it counts for: a thread and a stack.
 * Sources: prof_structs.h, prof_data.c and edata.h of jemalloc 5.3. */
#pragma once

#include "base/arena.h"
#include "base/strbuf.h"
#include "outside/jeages.h"
#include "outside/jeheap.h"

enum { jp_je_thread_name = 64 };

/* A live sampled object. */
struct jp_jesample {
	uint64_t context; /* its address */
	uint64_t address; /* of the object */
	uint64_t time;    /* when it was allocated, ns of jemalloc's clock */
	unsigned class;
};

/* What samples stand for. */
struct jp_jecounts {
	uint64_t eighths, bytes; /* objects * 8 */
};

/* What a thread has of a stack, in jemalloc's own counts: of objects that live and were sampled. */
struct jp_jecontext {
	uint64_t address, thread; /* the second is a number that jemalloc gave */
	uint64_t order[2];        /* tells contexts of one thread and stack apart */
	uint64_t objects;         /* samples */
	struct jp_jecounts unbiased;
	const uint64_t *stack; /* addresses of the arena's */
	uint32_t depth;
};

struct jp_jethread {
	uint64_t id, record; /* the address of its own */
	struct jp_jecounts unbiased;
	char name[jp_je_thread_name]; /* "": none, or not known */
};

struct jp_jeprofile {
	int lg_rate;                 /* one sample every 2^N bytes, in the mean */
	struct jp_jesample *samples; /* ascending by context */
	size_t sample_count, sample_cap;
	struct jp_jecontext *contexts; /* in the order of jemalloc's dumps; 0: there is no profile that is known */
	size_t count, cap;
	struct jp_jethread *threads; /* ascending */
	size_t thread_count, thread_cap;
	struct jp_arena arena;
};

/* Reads it, after jp_jeheap_take. 0, also where there is none, or -1 when memory is short. To be released. */
int jp_jeprofile_take(struct jp_memsource *source, const struct jp_jeheap *heap, const struct jp_jeextents *extents,
                      struct jp_jeprofile *profile) jp_must_check;

/* When the first and the last of its live samples were allocated, ns of jemalloc's clock; false: it has none. */
bool jp_jeprofile_times(const struct jp_jeprofile *profile, uint64_t *first, uint64_t *last);

/* What a sample of a class stands for at the profile's rate. */
struct jp_jecounts jp_jeprofile_stands_for(const struct jp_jeprofile *profile, unsigned class);

/* Writes a profile, of which there must be one, as prof.dump does: heap_v2, with the mappings of the source. With
 * `ages` each stack is divided among its epochs, which are noted there. 0, or -1 when memory is short. */
int jp_jeprofile_write(const struct jp_jeprofile *profile, const struct jp_memsource *source, struct jp_jeages *ages,
                       struct jp_strbuf *text) jp_must_check;

void jp_jeprofile_release(struct jp_jeprofile *profile);
