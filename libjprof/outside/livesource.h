/* The memory of a live process: /proc/PID/mem and pagemap. Both descriptors belong to the address space that the
 * process had when they were opened: what runs there later, or has its pid, is never read. */
#pragma once

#include "jprof-live.h"
#include "outside/memsource.h"

/* Refused with the reason that was found. To be closed. */
int jp_livesource_open(const struct jprof_target *target, struct jp_memsource **source, struct jprof_error *err);
