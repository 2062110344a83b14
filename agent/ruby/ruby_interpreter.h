/* The functions of Ruby's interpreter, in a library without symbols: those that are on the stack however a C method is
 * called from Ruby. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code_range.h"

/* On a Ruby thread, in a job: has Ruby yet to load the part of its own code that is needed to learn? */
bool ruby_interpreter_is_early(void);

/* On a Ruby thread, in a job; may raise. Learns the layouts of ruby_names.h, too. Returns NULL, or why no Ruby stacks
 * can be taken here. */
const char *ruby_interpreter_learn(void);

/* Is this return address in one of them? Never before they were learned. */
bool ruby_interpreter_has(const void *address);

/* Is it in what runs postponed jobs? */
bool ruby_interpreter_runs_jobs(const void *address);

/* Those that were learned, innermost first. */
size_t ruby_interpreter_functions(const struct code_range **functions);

/* What Ruby keeps in its frames and in its heap is known of this version. */
bool ruby_interpreter_knows(const char *version);
