/* Text that grows, in pages of its own: the agent takes nothing from the allocator that it measures. */
#ifndef AGENT_TEXT_H
#define AGENT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* A buffer of zero bytes is empty and ready for use. Once memory was short, `failed` stays set and later
 * calls do nothing, so that a caller checks once at the end. `data` is NUL-terminated once non-NULL. */
struct text {
	char *data;
	size_t len;
	size_t cap;
	bool failed;
};

void text_add(struct text *text, const void *data, size_t len);
void text_str(struct text *text, const char *s);
void text_printf(struct text *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Adds `s` as a JSON string, null for NULL. Bytes that are no UTF-8 become U+FFFD. */
void text_json(struct text *text, const char *s);

/* Writes all of it to a file. Returns 0 or an errno. */
int text_write(const struct text *text, int fd);

/* Adds all that a file has from here on. Returns 0 or an errno. */
int text_read(struct text *text, int fd);

void text_free(struct text *text);

#endif
