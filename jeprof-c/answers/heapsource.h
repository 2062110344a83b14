/* Where a Ruby's objects are read from: a dump of ObjectSpace, or a process in a snapshot. */
#ifndef JEPROF_HEAPSOURCE_H
#define JEPROF_HEAPSOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "jprof.h"

struct heap_source {
	bool silent;       /* set before: what is no snapshot, or has no graph, is nothing worth saying */
	char label[512];   /* of the answer: the file, and the process in it */
	char process[256]; /* that process */
	bool snapshot;     /* it says no lines, and no contents */
	size_t others;     /* processes of the snapshot that have objects, too, and were not asked for */
};

/* Whether a file is called like a snapshot. */
bool heap_source_is_snapshot(const char *path);

/* `member` is a name, pid or role; NULL: the one with most objects. NULL after having said what is wrong.
 */
struct jprof_rubyheap *heap_source_open(struct heap_source *source, const char *path, const char *member);

#endif
