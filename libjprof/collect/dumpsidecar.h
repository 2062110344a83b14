/* The side-car of a dump: docs/internals/agent.md. */
#pragma once

#include "collect/dumpfile.h"

/* Reads it, and makes sure that it is of this process and of the dump that is called `dump`, and, where `since` is
 * not 0, that the dump was begun at that time (seconds since the epoch) or later. */
int jp_sidecar_check(const struct jprof_target *target, const struct jprof_dump_file *sidecar, const char *dump,
                     int64_t since, struct jprof_error *err);

/* Whether a signal was the reason for the dump. A side-car that cannot be read does not tell: true. */
bool jp_sidecar_is_of_signal(const struct jprof_dump_file *sidecar);
