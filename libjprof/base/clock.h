/* The time that passes. */
#ifndef JP_BASE_CLOCK_H
#define JP_BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds of a clock that never goes back. */
int64_t jp_clock_ms(void);

#endif
