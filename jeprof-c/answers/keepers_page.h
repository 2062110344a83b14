/* jprof keepers --html. */
#pragma once

#include <stdio.h>

#include "answers/measure.h"
#include "cli/answer.h"
#include "jprof.h"

struct keepers_page {
	const char *title;
	const struct answer *head, *end; /* what is above the table, and below it */
	const struct jprof_keepers *keepers;
	size_t shown; /* of these */
	struct measure unit;
};

/* Writes the page: a row for each keeper, with the way to it and the line that made what it keeps. */
void keepers_put_page(FILE *out, const struct keepers_page *page);
