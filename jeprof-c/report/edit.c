#include "report/edit.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/say.h"

struct edit {
	const char *prompt;
	const struct edit_module *module; /* NULL: lines are read as they come */
	struct edit_terminal *terminal;
	char *line;
	size_t cap;
};

struct edit *edit_open(const char *prompt, edit_complete_fn *complete, void *context)
{
	struct edit *e = calloc(1, sizeof *e);
	if (e)
		e->prompt = prompt;
	if (e && isatty(STDIN_FILENO) && isatty(STDERR_FILENO))
		e->module = edit_module();
	if (e && e->module && !(e->terminal = e->module->open(prompt, complete, context)))
		e->module = NULL;
	return e;
}

static bool keep_line(struct edit *e, const char *text, size_t len)
{
	char *line = realloc(e->line, len + 1);
	if (!line)
		return false;
	memcpy(line, text, len);
	line[len] = '\0';
	e->line = line;
	e->cap = len + 1;
	return true;
}

static ssize_t read_plain(struct edit *e)
{
	fputs(e->prompt, stderr);
	errno = 0;
	ssize_t len = getline(&e->line, &e->cap, stdin);
	if (len < 0 && errno != EINTR && !feof(stdin))
		say("standard input cannot be read: %s", strerror(errno));
	if (len >= 0 || errno != EINTR)
		return len;
	clearerr(stdin);
	fputs("\n", stderr);
	return keep_line(e, "", 0) ? 0 : -1;
}

static ssize_t read_terminal(struct edit *e)
{
	size_t len;
	const char *line = e->module->line(e->terminal, &len);
	return line && keep_line(e, line, len) ? (ssize_t)len : -1;
}

const char *edit_line(struct edit *e)
{
	ssize_t len = e->module ? read_terminal(e) : read_plain(e);
	if (len < 0) {
		fputs("\n", stderr);
		return NULL;
	}
	while (len && (e->line[len - 1] == '\n' || e->line[len - 1] == '\r'))
		e->line[--len] = '\0';
	return e->line;
}

void edit_close(struct edit *e)
{
	if (!e)
		return;
	if (e->module)
		e->module->close(e->terminal);
	free(e->line);
	free(e);
}
