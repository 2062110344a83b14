/* What a heap_v2 dump holds, as it stands there: stacks of addresses and their raw counters. */
#ifndef JP_INPUT_HEAPFILE_H
#define JP_INPUT_HEAPFILE_H

#include <time.h>

#include "base/intern.h"
#include "base/strbuf.h"
#include "jprof.h"

/* A stack: indices of dump->addresses, innermost frame first, in dump->frames. */
struct jp_stack {
	size_t first;
	uint32_t depth;
};

/* One counter line: of all threads together, or of one. */
struct jp_record {
	uint32_t stack;
	uint32_t thread; /* index of dump->threads */
	uint64_t count[JPROF_COUNTERS];
};

struct jp_records {
	struct jp_record *items;
	size_t count;
	size_t cap;
};

struct jp_thread {
	struct jprof_dump_thread pub;
	uint32_t name; /* id in dump->names */
};

struct jprof_dump {
	struct jprof_dump_info info;
	char *name;             /* for messages */
	time_t mtime;           /* of the file; 0: not known */
	struct jp_intern names; /* of threads */
	struct jp_intern address_ids;
	uint64_t *addresses; /* lookup addresses: return addresses less one, see heapfile.c */
	size_t address_cap;
	uint32_t *frames;
	size_t frame_count, frame_cap;
	struct jp_stack *stacks;
	size_t stack_cap;
	struct jp_records totals;     /* the t* lines, in order */
	struct jp_records per_thread; /* the tN lines, in order */
	struct jp_thread *threads;
	size_t thread_cap;
	struct jprof_maps *maps;
	struct jprof_error *warnings;
	size_t warning_count, warning_cap;
};

/* jemalloc's inverse of sampling for one counter pair of one stack. */
void jp_unbias(uint64_t rate, uint64_t objects, uint64_t bytes, double *true_objects, double *true_bytes);

/* All four counters of a record, scaled. */
void jp_unbias_record(uint64_t rate, const uint64_t count[JPROF_COUNTERS], double value[JPROF_COUNTERS]);

#endif
