#include "cli/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* Longer words are not compared. */
enum { longest_word = 40 };

static size_t least_of(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Row i of the table of distances between the first i letters of a and the first j of b, from the two rows above. */
static void next_row(size_t *row, const size_t *above, const size_t *above2, const char *a, size_t i, const char *b,
                     size_t len)
{
	row[0] = i;
	for (size_t j = 1; j <= len; j++) {
		row[j] = least_of(least_of(above[j], row[j - 1]) + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
		if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
			row[j] = least_of(row[j], above2[j - 2] + 1);
	}
}

static size_t distance_of(const char *a, size_t a_len, const char *b, size_t b_len)
{
	size_t rows[3][longest_word + 1];
	for (size_t j = 0; j <= b_len; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a_len; i++)
		next_row(rows[i % 3], rows[(i + 2) % 3], rows[(i + 1) % 3], a, i, b, b_len);
	return rows[a_len % 3][b_len];
}

struct nearest nearest_to(const char *typed, size_t len)
{
	return (struct nearest){ .typed = typed, .len = len };
}

void nearest_try(struct nearest *n, const char *word)
{
	size_t len = strlen(word);
	if (n->len > longest_word || len > longest_word)
		return;
	size_t distance = distance_of(n->typed, n->len, word, len);
	bool begins = len && n->len && tolower((unsigned char)*n->typed) == tolower((unsigned char)*word);
	if (distance <= (begins ? (len + 2) / 3 : 1) && distance < len && (!n->best || distance < n->distance)) {
		n->best = word;
		n->distance = distance;
	}
}
