/* Modules: what few reports need is loaded when it is asked for, so that its libraries need not be installed, and take
 * no time where they are. */
#pragma once

#include "jprof.h"

struct module {
	const char *file; /* in LIBDIR/jprof, there beside the program in a tree that was moved as a whole, or where it
	                     was built */
	const char *folder;             /* of the build, "dot" */
	const char *symbol;             /* its table, whose first member is the version of jprof, a const char * */
	const char *purpose, *packages; /* "a call graph", "libcgraph6 (Debian) or graphviz-libs (Alpine)" */
};

/* The table of the module, which stays loaded. NULL: JPROF_E_UNSUPPORTED with what is missing and which package has it.
 */
const void *module_load(const struct module *module, struct jprof_error *err);
