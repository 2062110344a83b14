/* The time that passes. */
#pragma once

#include <stdint.h>

/* Milliseconds of a clock that never goes back. */
int64_t jp_clock_ms(void);
