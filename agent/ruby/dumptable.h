/* The table beside a dump: docs/internals/ruby-table.md. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct textbuf;

/* Whether there are tables. In the constructor. */
void dumptable_init(void);
bool dumptable_is_on(void);

/* Before a dump is made: whose begin and end an epoch closes. */
struct dumptable_bounds {
	uint32_t before, after;
	uint32_t slots; /* the stock of slots.h that goes with it; 0: none */
};
void dumptable_begin(struct dumptable_bounds *bounds);

/* After jemalloc wrote it. */
void dumptable_end(struct dumptable_bounds *bounds);

/* Adds the table of the dump in this file. False where another thread makes one and does not come to an end, the file
 * cannot be read, or memory is short. Uses no handle of handle.h. */
bool dumptable_make(int fd, const struct dumptable_bounds *bounds, struct textbuf *text);

/* In a forked child. */
void dumptable_forked(void);
