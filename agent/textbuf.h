/* Text that grows, in pages of its own: the agent takes nothing from the allocator that it measures. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* A buffer of zero bytes is empty and ready for use. Once memory was short, `failed` stays set and later
 * calls do nothing, so that a caller checks once at the end. `data` is NUL-terminated once non-NULL. */
struct textbuf {
	char *data;
	size_t len;
	size_t cap;
	bool failed;
};

void textbuf_add(struct textbuf *text, const void *data, size_t len);
void textbuf_str(struct textbuf *text, const char *s);
void textbuf_printf(struct textbuf *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Adds `s` as a JSON string, null for NULL. Bytes that are no UTF-8 become U+FFFD. */
void textbuf_json(struct textbuf *text, const char *s);

/* Writes all of it to a file. Returns 0 or an errno. */
int textbuf_write(const struct textbuf *text, int fd);

/* Adds all that a file has from here on. Returns 0 or an errno. */
int textbuf_read(struct textbuf *text, int fd);

void textbuf_free(struct textbuf *text);
