/* jprof diff of dumps of ObjectSpace: what was born after the first and lives in the last. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cli/answer.h"
#include "jprof.h"

struct sink;

/* Whether all operands are such dumps. */
bool born_is_wanted(char *const *paths, size_t count);

/* Prints it for two or three dumps in their order, with so many lines; 0: all; fits: as much of it as the height of
 * the terminal has room for. False after having said what is wrong. */
bool born_put(char *const *paths, size_t count, size_t top, bool fits, struct sink *sink);

/* Writes an answer; of it what the height of the terminal has room for where it is to fit. */
bool born_put_text(const struct answer *answer, bool fits, struct sink *sink);

/* "shop.rb:4", or that it is not known. */
const char *born_site(const struct jprof_born_line *line);

/* Adds what there is to say of the i-th line: what it made, and who keeps it. */
bool born_add_block(struct answer *a, const struct jprof_rubyheap *heap, const struct jprof_born *born, size_t i,
                    struct jprof_error *err);
