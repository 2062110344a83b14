/* Built with libcgraph, for the module jprof-dot.so. */
#include "report/picture.h"

#include <string.h>

#include "cli/module.h"

int picture_draw(const struct jprof_graph *graph, const struct dot_opts *opts, const char *format,
                 struct dot_picture *picture, struct jprof_error *err)
{
	static const struct module module = { .file = "jprof-dot.so",
		                              .folder = "dot",
		                              .symbol = "jprof_dot",
		                              .purpose = "call graphs need Graphviz' library of graphs",
		                              .packages = "libcgraph6 (Debian) or graphviz (Alpine)" };
	const struct dot_module *dot = module_load(&module, err);
	struct dot_opts all = *opts;
	if (!dot)
		return err->code;
	if (strcmp(format, "dot") && !(all.gvc = picture_gvc(err)))
		return err->code;
	return dot->draw(graph, &all, format, picture, err);
}
