/* jemalloc's hook for the stacks of sampled allocations: the agent's part of them, and where it looks for contact with
 * Ruby. */
#pragma once

#include <stdbool.h>

/* Why nothing can be added to samples with this jemalloc; NULL: it can. */
const char *sample_refusal(void);

/* From now on Ruby stacks and epochs are added to stacks, whose native part in front of a Ruby stack has at most
 * `native` frames. Returns NULL, or why that is not possible with this jemalloc. In the constructor. */
const char *sample_init(unsigned native);

/* Has `watch` called within each sampled allocation, on its thread; NULL ends it. Not before jemalloc 5.3. */
void sample_watch(void (*watch)(void));
