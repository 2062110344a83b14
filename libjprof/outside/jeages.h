/* When sampled objects were allocated: jemalloc notes it with each (prof_alloc_time of edata.h). A dump has it as the
 * agent's dumps do, docs/internals/ruby-table.md: stacks end with an address that stands for an epoch, and a table has
 * the times of these. Epochs are counted from the start of the process, so that two dumps of one have the same. */
#pragma once

#include "base/strbuf.h"
#include "jprof.h"

/* Clocks are read by the caller, at one moment. Times without another word are milliseconds since boot. */
struct jp_jeages {
	int pid;
	uint64_t start_ticks;
	uint64_t began, now; /* the process, and the look at it */
	uint64_t boot;       /* when that was: ms since 1970, whole seconds, for it is to be the same each time */
	int64_t monotonic,
	    realtime;   /* what is to be added to ns / 10^6 of jemalloc's clock, whichever of these it is */
	uint64_t ids;   /* where the addresses of epochs begin */
	uint32_t *used; /* epochs that the dump has, ascending; owned */
	size_t used_count, used_cap;
};

/* Of a core, which says neither when its process began nor when it ended: its first sample is taken for the one, and
 * its last for the other. These are ns of jemalloc's clock; `time` is when the core was written, seconds since 1970. */
struct jp_jeages jp_jeages_of_core(int pid, uint64_t first, uint64_t last, int64_t time, const struct jprof_maps *maps);

/* Where nothing is mapped. */
uint64_t jp_jeages_place(const struct jprof_maps *maps);

/* The epoch of a time of jemalloc's clock; the one that runs. The first has what came over a fork, the second the first
 * minute, and each that follows ten minutes. */
uint32_t jp_jeages_epoch(const struct jp_jeages *ages, uint64_t time);
uint32_t jp_jeages_running(const struct jp_jeages *ages);

/* The address that stands for it. */
uint64_t jp_jeages_address(const struct jp_jeages *ages, uint32_t epoch);

/* Notes that the dump has an epoch. 0, or -1 when memory is short. */
int jp_jeages_use(struct jp_jeages *ages, uint32_t epoch) jp_must_check;

/* The line of the dump's maps for those addresses, and the table of the whole dump. */
void jp_jeages_put_mapping(const struct jp_jeages *ages, struct jp_strbuf *text);
void jp_jeages_write(const struct jp_jeages *ages, const struct jp_strbuf *dump, struct jp_strbuf *table);

void jp_jeages_release(struct jp_jeages *ages);
