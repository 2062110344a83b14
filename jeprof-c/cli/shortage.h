/* Whether memory was short. Many functions answer with NULL or false where there is nothing, and have no other answer
 * where memory is short: then what follows from it is false. So whoever allocates in them notes it, and whoever answers
 * to people asks. Once noted it stays so. */
#pragma once

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "base/strbuf.h"
#include "cli/textstream.h"

/* Nothing is noted yet. */
void shortage_begin(void);

/* What malloc, strdup, realpath and their like gave: NULL with errno ENOMEM is noted. Returns it. */
void *shortage_note(void *got);

/* What a function of the library returned: JPROF_E_NOMEM is noted. Returns it. */
int shortage_note_code(int code);

/* Whether asprintf failed by what it returned; then that is noted. */
bool shortage_unprinted(int length);

/* Closes a stream of textstream_open(). Returns the text, to be freed, or NULL, which is noted: then *text is NULL,
 * too. */
char *shortage_close(FILE *memory, char **text);

/* What was added to a text; "" where nothing was. That memory was short there is noted. */
const char *shortage_text(const struct jp_strbuf *text);

/* The same, handed over for free(), "" where nothing was added; NULL where memory was short, which is noted. */
char *shortage_take(struct jp_strbuf *text);

/* getline, whose shortage is noted: else its end looks like the file's. */
ssize_t shortage_line(char **line, size_t *cap, FILE *file);

bool shortage_noted(void);

/* The words for it, for who says them in a line of his own. */
const char *shortage_why(void);

/* Says it in one line, if it was noted; whether it was. */
bool shortage_say(void);

/* Behind what was printed: says in one line that it may lack something, if it was noted and nothing was said of it;
 * whether that is so. */
bool shortage_say_late(void);
