/* Where a report goes: standard output, or a file that is made when there is something to write. */
#ifndef JEPROF_SINK_H
#define JEPROF_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct sink {
	const char *path; /* NULL: standard output */
	FILE *file;
	int error; /* errno of the path; main looks after standard output */
};

/* A jprof_write_fn; `sink` is a struct sink. */
int sink_write(void *sink, const void *data, size_t len);

/* False when the file could not be written; sink->error says why. */
bool sink_close(struct sink *sink);

#endif
