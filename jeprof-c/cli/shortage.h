/* Whether memory was short. Many functions answer with NULL or false where there is nothing, and have no other answer
 * where memory is short: then what follows from it is false. So whoever allocates in them notes it, and whoever answers
 * to people asks. Once noted it stays so. */
#ifndef JEPROF_SHORTAGE_H
#define JEPROF_SHORTAGE_H

#include <stdbool.h>
#include <stdio.h>

/* Nothing is noted yet. */
void shortage_begin(void);

/* What malloc, strdup, realpath and their like gave: NULL with errno ENOMEM is noted. Returns it. */
void *shortage_note(void *got);

/* What a function of the library returned: JPROF_E_NOMEM is noted. Returns it. */
int shortage_note_code(int code);

/* Whether asprintf failed by what it returned; then that is noted. */
bool shortage_unprinted(int length);

/* Closes what open_memstream gave, whose text this is. Returns the text, to be freed, or NULL, which is
 * noted: then *text is NULL, too. */
char *shortage_close(FILE *memory, char **text);

bool shortage_noted(void);

/* Says it in one line, if it was noted; whether it was. */
bool shortage_say(void);

/* The text of that line. */
extern const char shortage_text[];

#endif
