/* A model of a process under jemalloc's sampling, which knows the truth: objects are sampled by
 * exponential distances in bytes, counted as jemalloc counts, and printed as a heap_v2 dump. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jprof.h"

struct rng {
	uint64_t state;
};

/* Uniform in (0, 1). */
double rng_uniform(struct rng *rng);

/* How many of `count` objects of this size are sampled: each time after so many bytes as an exponential
 * distance of mean `rate` says. */
uint64_t sample_objects(struct rng *rng, uint64_t rate, uint64_t size, uint64_t count);

/* A Poisson variable. */
uint64_t rng_poisson(struct rng *rng, double mean);

/* Sums over sampled objects. */
struct tally {
	uint64_t objects, bytes;   /* as they are */
	uint64_t eighths, claimed; /* what jemalloc 5.3 keeps: un-biased, in eighths of objects and in bytes */
};

void tally_add(struct tally *tally, uint64_t rate, uint64_t size, uint64_t objects);
void tally_sub(struct tally *tally, uint64_t rate, uint64_t size, uint64_t objects);

/* The counters of a dump: as 5.3 prints them so that a reader's formula gives what it kept, or plain. */
void tally_print(const struct tally *tally, uint64_t rate, bool unbias, uint64_t count[2]);

struct stack {
	struct tally in_use, allocated;
};

enum { most_stacks = 640 };

struct process {
	uint64_t rate;
	bool unbias;   /* counters as of 5.3, else as of 4.x */
	bool accum;    /* prof_accum:true */
	uint64_t base; /* where its library is mapped */
	size_t sites;  /* 0: stacks have no epochs. Else stack i is site i % sites, in epoch 1 + i / sites */
	unsigned over; /* with epochs: those up to this one are over, the rest begins after the dump */
	unsigned pid;  /* as a side-car and a table have it; 0: there is no side-car */
	size_t stacks;
	struct stack stack[most_stacks];
};

/* `objects` of the given size were sampled and allocated, or freed, at stack `at`. */
void process_malloc(struct process *process, size_t at, uint64_t size, uint64_t objects);
void process_free(struct process *process, size_t at, uint64_t size, uint64_t objects);

/* Where an epoch's address is, from 1 on, and the line of maps that belongs to it. */
uint64_t epoch_address(size_t epoch);
size_t epoch_maps_print(char *text, size_t size);

/* The table of a dump with so many epochs of 1000 seconds, by docs/internals/ruby-table.md; those up to `over` are. */
size_t epoch_table_print(unsigned pid, unsigned over, size_t epochs, const char *dump, size_t dump_len, char *text,
                         size_t size);

/* Its dump, parsed, with the table of its epochs; a stack that nothing was sampled of is not printed. NULL if jprof
 * refused it. */
struct jprof_profile *process_profile(const struct process *process);
