/* A text that grows as it is made: nothing of it is cut. Where memory is short it lacks something, which is noted
 * (cli/shortage.h). */
#ifndef JEPROF_LONGTEXT_H
#define JEPROF_LONGTEXT_H

#include <stddef.h>

struct long_text {
	char *text; /* NULL: empty */
	size_t len;
};

void long_text_add(struct long_text *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Adds a name as people may be shown it: see jprof_visible. */
void long_text_name(struct long_text *to, const char *name);

/* What was added; "" where nothing was. */
const char *long_text_of(const struct long_text *text);

/* Empties it. */
void long_text_end(struct long_text *text);

#endif
