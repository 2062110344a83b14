/* Samples of the objects that Ruby allocates in slots of its own heap, which jemalloc does not see: by bytes, at
 * exponential distances on each thread, as jemalloc samples memory. docs/internals/ruby-table.md is the contract. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ruby/ruby_api.h"

struct slot_sample;
struct textbuf;

/* In the constructor: samples are to be so many bytes apart; 0: none are taken. */
void slots_init(uint64_t mean);

/* Why no objects are sampled; NULL where they are. */
const char *slots_refusal(void);

/* Were they asked for? */
bool slots_asked(void);

/* They are not, for this reason, which stays the caller's. */
void slots_refuse(const char *why);

/* ---- in a job, on a Ruby thread; these may raise */

/* After ruby_stacks_learn(). */
void slots_learn(void);

/* Removes the dead where there are many. */
void slots_prune(void);

/* Removes the dead. Returns the number of this stock; 0: none was taken, and `why` says why. */
uint32_t slots_stock(const char **why);

/* ---- with a dump, on one thread at a time */

/* All samples are in use: their stacks, epochs and tags stay. */
void slots_use(void);

/* Calls `each` for those that lived in this stock. */
void slots_each(uint32_t stock, void (*each)(const struct slot_sample *sample, void *arg), void *arg);

/* Adds the rest of a line "slots" of a table. */
void slots_line(struct textbuf *text);

/* Adds the side-car's "slots", of the dump with this stock, or with none for this reason. */
void slots_json(uint32_t stock, const char *why, struct textbuf *text);

/* Before a fork; in the parent; in the child. */
void slots_fork(void);
void slots_forked_parent(void);
void slots_forked_child(void);
