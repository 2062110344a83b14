/* Tags: which piece of work a sampled allocation belongs to, as the program has noted it by ruby/lib/jprof.rb: a number
 * in a fiber-local, and its text in a constant. docs/internals/ruby.md is the contract. */
#pragma once

#include <stdint.h>

#include "ruby/texts.h"

enum { RUBY_TAGS_MOST = 256, RUBY_TAGS_OTHER };

/* On a Ruby thread, in a job, after ruby_stacks_learn(); may raise. Before that there are no tags. `soon` has
 * ruby_tags_read() called by a job; it is called in sampled allocations. */
void ruby_tags_learn(void (*soon)(void));

/* In a sampled allocation, where ruby_stacks_serve(): 1 to RUBY_TAGS_OTHER, or 0: no tag. Allocates nothing in Ruby and
 * raises nothing. The first of a number has its text read soon, by a job on this thread. */
uint32_t ruby_tags_now(void);

/* On a Ruby thread, in a job: reads the texts that are wanted. Raises nothing. */
void ruby_tags_read(void);

/* ---- with a dump, by one thread at a time */

/* The dump has samples of this tag. */
void ruby_tags_use(uint32_t tag);

/* Calls `each` for the tags that were used and whose texts are known, "KIND TEXT", in ascending order; then none is
 * used. */
void ruby_tags_each_used(void (*each)(uint32_t tag, struct text_span text, void *arg), void *arg);
