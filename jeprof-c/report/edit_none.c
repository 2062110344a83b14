/* A build without libedit: the terminal's own line editing, no history, no completion. */
#include "report/edit.h"

const struct edit_module *edit_module(void)
{
	return NULL;
}

const char *edit_module_name(void)
{
	return "none";
}
