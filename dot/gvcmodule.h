/* What jprof-gvc.so gives: layout and rendering by libgvc, which draws in half a desktop. The program loads it when a
 * picture is asked for, and keeps it: libraries below it cannot be unloaded. */
#pragma once

#include <cgraph.h>
#include <stddef.h>

struct dot_gvc {
	const char *version; /* of jprof: a module of another build is not used */

	/* Lays the graph out and draws it in one of dot.h's formats but "dot". 0 with *data, to be given to
	 * `release`; else -1 with *why, static text. */
	int (*render)(Agraph_t *g, const char *format, char **data, size_t *len, const char **why);
	void (*release)(char *data);
};

extern const struct dot_gvc jprof_gvc;
