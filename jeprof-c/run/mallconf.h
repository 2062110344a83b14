/* MALLOC_CONF: pairs KEY:VALUE parted by commas, of which the last of a key counts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* One pair, as it stands in the text. A value ends at a comma or the end. */
struct conf_pair {
	const char *key, *value; /* value is NULL where there is no colon */
	size_t key_len, value_len;
};

/* Takes the next pair off *conf; false at the end. Empty pairs are taken as they are, with a key of no length. */
bool conf_next(const char **conf, struct conf_pair *pair);

/* Whether blanks or line ends stand around a comma or at an end, as a folded YAML text leaves them: jemalloc takes
 * such a text up to there only, or refuses the value. */
bool conf_has_blanks(const char *conf);

/* The value of `key` that counts, in `value`, cut to size; false if it is not there. Blanks as above do not matter. */
bool conf_get(const char *conf, const char *key, char *value, size_t size);

/* A copy without blanks around pairs and without empty pairs; NULL when memory is short. Freed by the caller. */
char *conf_tidy(const char *conf);

/* A copy that makes a process which ends at once leave no dumps: prof_final, prof_gdump, prof_log and
 * lg_prof_interval are switched off where their values are such as jemalloc takes; all else stands as it is. */
char *conf_harmless(const char *conf);
