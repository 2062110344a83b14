/* Where the bytes of an input come from, and a window that moves over them, so that no input has to be held whole. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"
#include "jprof.h"

/* Bytes in order. The kinds of source embed this. */
struct jp_bytesource {
	/* Puts 1 to `room` bytes to `to` and their number to *got, 0 at the end. 0 or a code, with *err set. */
	int (*pull)(struct jp_bytesource *source, char *to, size_t room, size_t *got, struct jprof_error *err);
	void (*close)(struct jp_bytesource *source);
};

/* Closes a source and frees it; NULL is fine. */
void jp_bytesource_close(struct jp_bytesource *source);

/* The bytes of an open file or pipe, which the source closes; NULL, and the file is closed, when memory is short.
 * `path` is used in messages and must outlive the source. */
struct jp_bytesource *jp_bytesource_file(int fd, const char *path);

/* The bytes at `data`, which must outlive the source; NULL when memory is short. */
struct jp_bytesource *jp_bytesource_memory(const void *data, size_t len);

/* The part of a source that is held: text[at..len). */
struct jp_window {
	struct jp_bytesource *source; /* owned; NULL: there is nothing but what is held */
	char *text;                   /* owned, if cap is not 0 */
	size_t at, len, cap;
	int rc; /* why the source ended too early: err tells; 0: it did not */
	struct jprof_error err;
};

/* Holds at least one byte more than before, behind the others, which may move; false at the end, and when rc is set. */
bool jp_window_more(struct jp_window *window);

/* Holds `size` bytes or all that there are. */
void jp_window_fill(struct jp_window *window, size_t size);

void jp_window_release(struct jp_window *window);
