/* The words of a command that was typed. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

enum { words_most = 64 };

struct words {
	char *text; /* owns all of them */
	const char *list[words_most];
	size_t count;
	const char *file; /* after ">", or NULL */
};

/* Parts a line at blanks, but not within '...' or "...". What follows a ">" that begins a word is the file, of
 * which there is one at most. False after having said what is wrong; to be released in any case. */
bool words_parse(struct words *words, const char *line);

/* Words joined by "|", for free(); NULL when there are none, or memory is short. */
char *words_join(const char *const *words, size_t count);

void words_release(struct words *words);
