/* Reading command lines: with history and completion on a terminal where built with libedit, else as they come. */
#ifndef JEPROF_EDIT_H
#define JEPROF_EDIT_H

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

/* What edit.c uses on a terminal: edit_libedit.c or edit_none.c. NULL: not to be had. */
struct edit_terminal;
const char *edit_terminal_name(void); /* of what edits lines */
struct edit_terminal *edit_terminal_open(const char *prompt, edit_complete_fn *complete, void *context);
const char *edit_terminal_line(struct edit_terminal *terminal, size_t *len);
void edit_terminal_close(struct edit_terminal *terminal);

#endif
