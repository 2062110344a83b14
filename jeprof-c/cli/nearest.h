/* Spelling: which of the words that there are somebody meant. */
#pragma once

#include <stddef.h>

struct nearest {
	const char *typed;
	size_t len;
	const char *best; /* the word that is nearest so far; NULL: none is near enough */
	size_t distance;
};

/* Nothing yet is near to typed[0..len), which must live as long. */
struct nearest nearest_to(const char *typed, size_t len);

/* Takes a word into account. It is near if at most a third of its letters are too many, too few, wrong, or in the
 * place of their neighbour (Damerau and Levenshtein's distance, neighbours swapped once). Of equal ones the first wins.
 */
void nearest_try(struct nearest *nearest, const char *word);
