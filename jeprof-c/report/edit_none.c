/* A build without libedit: the terminal's own line editing, no history, no completion. */
#include "report/edit.h"

const char *edit_terminal_name(void)
{
	return "none";
}

struct edit_terminal *edit_terminal_open(const char *prompt, edit_complete_fn *complete, void *context)
{
	(void)prompt;
	(void)complete;
	(void)context;
	return NULL;
}

const char *edit_terminal_line(struct edit_terminal *terminal, size_t *len)
{
	(void)terminal;
	*len = 0;
	return NULL;
}

void edit_terminal_close(struct edit_terminal *terminal)
{
	(void)terminal;
}
