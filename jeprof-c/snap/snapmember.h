/* One process becomes a member of a bundle. */
#pragma once

#include "jprof-live.h"
#include "snap/snapopts.h"

struct opener;

/* Files that processes wrote because they were asked to, and which go once the bundle is there; of each process with
 * the opener that they are removed by, or NULL. Changed under interrupt_hold alone. */
struct leftover {
	struct jprof_dump_file *dump, *sidecar, *table;
	struct opener *opener;
};

struct leftovers {
	struct leftover *items;
	size_t count;
};

/* Of the members of bundles: how many are a Ruby, and how many of these collected their garbage first. */
struct collections {
	size_t rubies, done;
};

/* Has the process dump and adds what comes of it. 1: done; 0: not, which has been said, and the writer is as it
 * was; -1: not, and the writer can only be freed. */
int snap_member(struct jprof_bundle_writer *writer, const struct jprof_process *process,
                const struct snap_options *options, struct leftovers *leftovers, struct collections *collections);

/* What was read in the memory of processes themselves. */
struct snap_heaps {
	bool needed; /* set by the caller: a process whose memory is not read is left out, and that is said */
	unsigned read, refused; /* processes */
	unsigned profiles;      /* of those that were read: with a profile */
	struct jprof_error why; /* of the last refusal */
};

/* Whether a process can be asked for nothing: no agent was ever loaded into it. */
bool snap_is_unprepared(const struct jprof_process *process);

/* Adds the process without a dump: what /proc and its control group say of it; with `heaps` also what its own memory
 * does, read with that process's rights. The same answers. */
int snap_outside(struct jprof_bundle_writer *writer, const struct jprof_process *process,
                 const struct snap_options *options, struct snap_heaps *heaps);

/* Removes the files, but with --keep-dumps; frees nothing. */
void leftovers_remove(const struct leftovers *leftovers, const struct snap_options *options);

/* Lets them be, and ends their openers. */
void leftovers_end(struct leftovers *leftovers);

/* A profile that was in the memory of a process or a core. */
struct snap_profile {
	char *text, *sidecar, *table; /* owned; NULL: there was none */
	size_t len, sidecar_len, table_len;
};

/* For jprof_heap_opts: the context is a struct snap_profile. */
int snap_keep_profile(void *profile, const struct jprof_heap_dump *dump);

/* What is looked for in the memory of processes. */
struct jprof_heap_opts snap_heap_opts(const struct snap_options *options);
