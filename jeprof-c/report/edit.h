/* Reading command lines: with history and completion on a terminal where built with libedit, else as they come. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Offers a word. False: no more are wanted. */
typedef bool edit_offer_fn(void *list, const char *word);

/* Offers the words that may stand at line[at..], where line[0..at) is what comes before. Those that do not begin with
 * what is typed already are left out by the caller. */
typedef void edit_complete_fn(void *context, const char *line, size_t at, edit_offer_fn *offer, void *list);

struct edit;

/* The prompt goes to standard error. `prompt` and `context` must outlive it. NULL when memory is short. */
struct edit *edit_open(const char *prompt, edit_complete_fn *complete, void *context);

/* The next line without its end, good until the next call; NULL at the end of input. An interrupted line is "". */
const char *edit_line(struct edit *edit);

void edit_close(struct edit *edit);

struct edit_terminal;

/* What edits lines on a terminal: the table of the module jprof-edit.so. */
struct edit_module {
	const char *version;                                                                          /* of jprof */
	struct edit_terminal *(*open)(const char *prompt, edit_complete_fn *complete, void *context); /* or NULL */
	const char *(*line)(struct edit_terminal *terminal, size_t *len);
	void (*close)(struct edit_terminal *terminal); /* NULL does nothing */
};

extern const struct edit_module jprof_edit;

/* edit_dlopen.c or edit_none.c: the module, or NULL where lines are not edited; what is missing is said. */
const struct edit_module *edit_module(void);
const char *edit_module_name(void); /* of what edits lines */
