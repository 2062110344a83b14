/* Memory that is short: the linker turns the calls of malloc and its kin in our objects to the functions behind this
 * (--wrap). What libraries below us allocate is not touched. */
#pragma once

#include <stddef.h>

/* From here on the allocation of this number, from 1, fails; 0: none. */
void shortmem_arm(size_t failing);

/* Ends that; how many allocations were asked for. */
size_t shortmem_disarm(void);

/* Bytes that our objects hold, and the most that they held since the last call of this with true. */
size_t shortmem_held(void);
size_t shortmem_peak(int again);

/* Of how many allocations one fails: `few`; with JPROF_SWEEP=whole in the environment 1, so that each fails. */
size_t shortmem_step(size_t few);
