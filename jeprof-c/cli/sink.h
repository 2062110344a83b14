/* Where a report goes: standard output, or a file that is written when the report is whole. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct sink {
	const char *path; /* NULL: standard output */
	char *data;       /* what goes to the path, until it is closed */
	size_t len, cap;
	bool begun;  /* a report was made, be it empty */
	bool failed; /* it is not whole: the file is left as it is */
	bool closed;
	const char *why; /* the path cannot be written; main looks after standard output */
};

/* A jprof_write_fn; `sink` is a struct sink. */
int sink_write(void *sink, const void *data, size_t len);

/* A report that is made by printing, and written when it is whole. */
struct sink_text {
	FILE *file; /* to print to; NULL: memory is short */
	char *bytes;
	size_t len;
};

void sink_text_open(struct sink_text *text);

/* Writes what was printed, and frees it. False after having said that memory is short, or when `sink` failed. */
bool sink_text_write(struct sink_text *text, struct sink *sink);

/* Writes what came to the path, as outfile_write does, unless nothing did or the report failed; once. False when that
 * could not be done; sink->why says why. */
bool sink_close(struct sink *sink);
