/* Built with libedit, for the module jprof-edit.so. */
#include "cli/module.h"
#include "cli/say.h"
#include "report/edit.h"

const struct edit_module *edit_module(void)
{
	static const struct module module = { .file = "jprof-edit.so",
		                              .folder = "jeprof-c",
		                              .symbol = "jprof_edit",
		                              .purpose = "they need libedit",
		                              .packages = "libedit2 (Debian) or libedit (Alpine)" };
	struct jprof_error err;
	const struct edit_module *edit = module_load(&module, &err);
	if (!edit)
		say("no history and no completion: %s", err.text);
	return edit;
}

const char *edit_module_name(void)
{
	return "libedit";
}
