/* Samples by chance: each byte is the last one of a distance with equal probability, so that distances are exponential.
 */
#pragma once

#include <stdint.h>

/* The next distance, of this mean. `state` is any number but 0, and the next one's afterwards. */
double chance_draw(uint64_t *state, double mean);

/* 1 - exp(-size / mean): how likely a distance ends within so many bytes. */
double chance_of(double size, double mean);
