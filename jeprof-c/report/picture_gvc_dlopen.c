/* Built with libgvc, for the module jprof-gvc.so. */
#include "cli/module.h"
#include "report/picture.h"

const struct dot_gvc *picture_gvc(struct jprof_error *err)
{
	static const struct module module = { .file = "jprof-gvc.so",
		                              .folder = "dot",
		                              .symbol = "jprof_gvc",
		                              .purpose = "pictures need Graphviz' library",
		                              .packages = "graphviz; --dot works" };
	return module_load(&module, err);
}
