/* The module jprof-edit.so: history and completion on a terminal, by libedit. */
#include <histedit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/edit.h"

enum { history_lines = 1000, most_words = 1000, most_shown = 100 };

struct edit_terminal {
	EditLine *el;
	History *history;
	const char *prompt;
	edit_complete_fn *complete;
	void *context;
};

static char *prompt_of(EditLine *el)
{
	struct edit_terminal *t = NULL;
	el_get(el, EL_CLIENTDATA, &t);
	return (char *)t->prompt;
}

/* ---- completion ----------------------------------------------------------------------------------- */

struct completions {
	const char *typed;
	size_t typed_len;
	char *items[most_words];
	size_t count;
};

static bool offer(void *list, const char *word)
{
	struct completions *w = list;
	if (strncmp(word, w->typed, w->typed_len))
		return true;
	for (size_t i = 0; i < w->count; i++)
		if (!strcmp(w->items[i], word))
			return true;
	char *copy = w->count < most_words ? strdup(word) : NULL;
	if (copy)
		w->items[w->count++] = copy;
	return copy;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds what all words have in common; shows them if that is nothing. */
static unsigned char extend(EditLine *el, struct completions *w)
{
	if (!w->count)
		return CC_ERROR;
	qsort(w->items, w->count, sizeof *w->items, by_text);
	size_t len = strlen(w->items[0]);
	for (size_t i = 1; i < w->count; i++)
		for (size_t k = 0; k < len; k++)
			if (w->items[i][k] != w->items[0][k])
				len = k;
	if (len == w->typed_len && w->count > 1) {
		fputs("\n", stderr);
		for (size_t i = 0; i < w->count && i < most_shown; i++)
			fprintf(stderr, "%s\n", w->items[i]);
		if (w->count > most_shown)
			fprintf(stderr, "... and %zu more\n", w->count - most_shown);
		return CC_REDISPLAY;
	}
	char *more = strndup(w->items[0] + w->typed_len, len - w->typed_len);
	bool good = more && (!*more || !el_insertstr(el, more));
	if (good && w->count == 1)
		good = !el_insertstr(el, " ");
	free(more);
	return good ? CC_REFRESH : CC_ERROR;
}

static unsigned char complete(EditLine *el, wint_t ch)
{
	struct edit_terminal *t = NULL;
	const LineInfo *info = el_line(el);
	char *line = strndup(info->buffer, (size_t)(info->cursor - info->buffer));
	struct completions *words = calloc(1, sizeof *words);
	unsigned char result = CC_ERROR;
	(void)ch;
	if (line && words && !el_get(el, EL_CLIENTDATA, &t)) {
		const char *blank = strrchr(line, ' ');
		words->typed = blank ? blank + 1 : line;
		words->typed_len = strlen(words->typed);
		t->complete(t->context, line, (size_t)(words->typed - line), offer, words);
		result = extend(el, words);
		for (size_t i = 0; i < words->count; i++)
			free(words->items[i]);
	}
	free(words);
	free(line);
	return result;
}

/* ^C: the line is given up. */
static unsigned char abandon(EditLine *el, wint_t ch)
{
	const LineInfo *info = el_line(el);
	(void)ch;
	fputs("^C", stderr);
	el_cursor(el, (int)(info->lastchar - info->cursor));
	info = el_line(el);
	el_deletestr(el, (int)(info->lastchar - info->buffer));
	return el_insertstr(el, "\n") ? CC_ERROR : CC_NEWLINE;
}

/* ---- lines ---------------------------------------------------------------------------------------------- */

static void terminal_close(struct edit_terminal *t)
{
	if (!t)
		return;
	if (t->history)
		history_end(t->history);
	if (t->el)
		el_end(t->el);
	free(t);
}

static struct edit_terminal *terminal_open(const char *prompt, edit_complete_fn *completion, void *context)
{
	struct edit_terminal *t = calloc(1, sizeof *t);
	HistEvent event;
	if (!t)
		return NULL;
	*t = (struct edit_terminal){ .prompt = prompt, .complete = completion, .context = context };
	t->el = el_init("jprof", stdin, stderr, stderr);
	t->history = history_init();
	if (!t->el || !t->history) {
		terminal_close(t);
		return NULL;
	}
	history(t->history, &event, H_SETSIZE, history_lines);
	history(t->history, &event, H_SETUNIQUE, 1);
	el_set(t->el, EL_CLIENTDATA, t);
	el_set(t->el, EL_PROMPT, prompt_of);
	el_set(t->el, EL_EDITOR, "emacs");
	el_set(t->el, EL_HIST, history, t->history);
	/* The wide form: el_set would copy the names and never free them. */
	el_wset(t->el, EL_ADDFN, L"jprof-complete", L"complete a word", complete);
	el_wset(t->el, EL_ADDFN, L"jprof-abandon", L"give the line up", abandon);
	el_set(t->el, EL_BIND, "^I", "jprof-complete", NULL);
	el_set(t->el, EL_BIND, "^C", "jprof-abandon", NULL);
	el_set(t->el, EL_BIND, "^R", "em-inc-search-prev", NULL);
	el_set(t->el, EL_SETTY, "-d", "-isig", NULL);
	return t;
}

static const char *terminal_line(struct edit_terminal *t, size_t *len)
{
	HistEvent event;
	int count = 0;
	const char *line = el_gets(t->el, &count);
	if (!line || count <= 0)
		return NULL;
	if (strspn(line, " \t\r\n") != (size_t)count)
		history(t->history, &event, H_ENTER, line);
	*len = (size_t)count;
	return line;
}

__attribute__((visibility("default"))) const struct edit_module jprof_edit = {
	.version = JPROF_VERSION,
	.open = terminal_open,
	.line = terminal_line,
	.close = terminal_close,
};
