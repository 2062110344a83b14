/* Who keeps the objects of a line of Ruby, by the graph and the samples of a snapshot (jprof snap --objects). */
#pragma once

#include <stdio.h>

#include "cli/answer.h"
#include "jprof.h"

/* Zero bytes know nothing. */
struct line_keepers {
	struct jprof_rubyheap *heap;
	bool graph;        /* the snapshot has a graph: who keeps what can be asked of it */
	char process[256]; /* that it is of, where the snapshot has others; else "" */
};

/* Of the process with most objects, or of this member alone. Knows nothing where the file is no snapshot, has no graph,
 * or no samples of objects; says only what is wrong with a graph. To be released. */
void line_keepers_find(struct line_keepers *keepers, const char *path, const char *member);

/* Adds the details "kept by" and "path" of the objects that were allocated at a line; true if one keeps a tenth of
 * them or more. `remedy` gets what to do about it, where the path begins with a name. */
bool line_keepers_add(struct answer *answer, const struct line_keepers *keepers, const char *file, unsigned line,
                      struct jp_strbuf *remedy);

/* Likewise, as a value of JSON: null if there are none. */
void line_keepers_json(FILE *out, const struct line_keepers *keepers, const char *file, unsigned line);

void line_keepers_release(struct line_keepers *keepers);
