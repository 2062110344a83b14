/* Where a Ruby's objects are read from: a dump of ObjectSpace, or a process in a snapshot. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jprof.h"

struct heap_source {
	bool silent;                  /* set before: what is no snapshot, or has no graph, is nothing worth saying */
	bool snapshot_alone;          /* likewise: a dump of ObjectSpace is none */
	const struct heap_source *as; /* likewise: the same process as that one's, which was opened; NULL: any */
	char label[512];              /* of the answer: the file, and the process in it */
	char process[256];            /* that process */
	bool in_memory;               /* it is a live process, or a core, that was snapped for it */
	bool snapshot;                /* it says no lines, and no contents */
	uint64_t pid, start_ticks;    /* of it in a snapshot; 0: not known */
	size_t others;                /* processes of the snapshot that have objects, too, and were not asked for */
};

/* Whether a file is called like a snapshot, or a process or core is meant: it has no contents. */
bool heap_source_is_snapshot(const char *path);

/* `path` is a file, or the pid of a process, which is snapped in memory. `member` is a name, pid or role; NULL: the one
 * with most objects. NULL after having said what is wrong.
 */
struct jprof_rubyheap *heap_source_open(struct heap_source *source, const char *path, const char *member);
