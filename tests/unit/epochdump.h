/* Dumps whose stacks carry their epochs, with their tables, written by docs/internals/ruby-table.md. Objects of 64
 * bytes, of which one in 16384 is sampled: a counter is the number of samples, each worth a megabyte. */
#pragma once

#include "harness.h"

/* `n` samples of a site in an epoch; of epoch 0 without an address for it. */
struct epoch_part {
	unsigned site, epoch, n;
};

/* A dump that process `pid` made at `time`, in seconds; the parts end with one of no samples. `lines` are the table's
 * behind that of the time, up to its end. `thread` as in struct jprof_profile_opts. */
struct jprof_profile *profile_of_epochs(const struct epoch_part *parts, unsigned pid, unsigned time, const char *lines,
                                        const char *thread);
