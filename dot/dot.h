/* Pictures of call graphs: a jprof_graph becomes a graph of libcgraph, which is written as DOT or laid out and
 * drawn by Graphviz' libgvc. Uses of libjprof only what jprof.h has. */
#pragma once

#include "jprof.h"

struct dot_opts {
	const struct jprof_view_info *view; /* what the graph is of */
	bool show_bytes;                    /* integers and "B" in place of fitting units */
	const char *title;                  /* what the numbers are of: the dump's name */
	const char *const *facts;           /* lines for the legend, told by the caller; `fact_count` of them */
	size_t fact_count;
	bool cluster; /* nodes of one library stand together in a frame */
	bool chains;  /* each node of a chain of calls has a box of its own */

	/* The module that lays out and draws, of gvcmodule.h; only "dot" does without. */
	const struct dot_gvc *gvc;
};

/* The i-th kind of picture, or NULL after the last; static. */
const struct jprof_format *dot_format_at(size_t i);

/* A picture, and what Graphviz had to remark in one line; "" for nothing. */
struct dot_picture {
	char *data; /* for free() */
	size_t len;
	char remark[256];
};

/* Draws a graph. JPROF_E_UNSUPPORTED where Graphviz cannot. A graph without nodes is JPROF_E_ARGUMENT. Not for two
 * threads at a time: Graphviz has global state. */
int dot_draw(const struct jprof_graph *graph, const struct dot_opts *opts, const char *format,
             struct dot_picture *picture, struct jprof_error *err);

/* What the module jprof-dot.so gives; the program loads it when a graph is asked for. */
struct dot_module {
	const char *version; /* of jprof: a module of another build is not used */
	__typeof__(dot_draw) *draw;
};

extern const struct dot_module jprof_dot;
