/* The native stack, by the unwinder of the C compiler that jemalloc uses as well. */
#pragma once

#include <stdbool.h>

/* In the constructor: it takes the loader's lock. */
void nativestack_load(void);

bool nativestack_is_known(void);

/* Does the address lie in this library? */
bool nativestack_is_ours(const void *address);

/* Return addresses from the caller on, without the agent's own, `max` at most. Returns how many. */
unsigned nativestack_all(void **frames, unsigned max);

/* Likewise, up to the first for which `ends` is true, which is left out. `ended` receives whether there was one. */
unsigned nativestack_until(void **frames, unsigned max, bool (*ends)(const void *address), bool *ended);

/* Is there such a return address, or are there more than are looked at? */
bool nativestack_may_have(bool (*is)(const void *address));
