/* Takes the Ruby stack of a sampled allocation down, as a node of stacktree.h. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* On a Ruby thread, in a job, any number of times; may raise. False where Ruby is not up far enough, and a later job
 * has to do it. */
bool ruby_stacks_learn(void);

/* Why none are taken; NULL where they are. */
const char *ruby_stacks_refusal(void);

/* None are to be taken, for this reason, which stays the caller's. */
void ruby_stacks_refuse(const char *why);

/* May Ruby's stack be read here, in an allocation? */
bool ruby_stacks_serve(void);

/* Then: its node; 0 where there is no Ruby frame. */
uint32_t ruby_stacks_take(void);

/* Where it may not be read: the node of what the garbage collector allocates for itself; 0: it is not that. */
uint32_t ruby_stacks_collector(void);

/* The node of what a postponed job allocates, whose Ruby stack is that of whoever was interrupted. */
uint32_t ruby_stacks_job(void);
