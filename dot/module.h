/* What jprof-gvc.so gives: layout and rendering by libgvc, which draws in half a desktop. It is loaded when a
 * picture is asked for and stays loaded: libraries below it cannot be unloaded. */
#ifndef DOT_MODULE_H
#define DOT_MODULE_H

#include <cgraph.h>
#include <stddef.h>

#include "jprof.h"

#define DOT_MODULE_FILE "jprof-gvc.so"
#define DOT_MODULE_SYMBOL "jprof_gvc"

struct dot_module {
	const char *version; /* of jprof: a module of another build is not used */

	/* Lays the graph out and draws it in one of dot.h's formats but "dot". 0 with *data, to be given to
	 * `release`; else -1 with *why, static text. */
	int (*render)(Agraph_t *g, const char *format, char **data, size_t *len, const char **why);
	void (*release)(char *data);
};

/* The module, loaded from its place; NULL with the reason in *err. */
const struct dot_module *dot_module(struct jprof_error *err);

#endif
