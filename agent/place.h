/* Where dumps go, and their names there. */
#pragma once

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* jemalloc's opt.prof_prefix, split. */
struct dump_place {
	char dir[PATH_MAX];      /* absolute; a relative prefix belongs to the working directory of this moment */
	char base[NAME_MAX + 1]; /* the rest, may be empty; "jeprof", jemalloc's own default, for an empty prefix */
};

/* On a thread of the program's: it calls jemalloc. What follows does not. */
void place_init(void);

/* Returns 0 or an errno. */
int place_find(struct dump_place *place);

/* Calls `each` for every name in a directory, until it returns false. Returns 0 or an errno. Takes no memory;
 * not for two threads at once. */
int place_entries(const char *dir, bool (*each)(const char *name, void *arg), void *arg);

/* One more than the highest SEQ of BASE.PID.SEQ.*; 0 if there is none, or the directory cannot be read. */
unsigned place_next_seq(const struct dump_place *place);

/* Removes what dead processes left in the directory: sockets that nobody listens to, and dumps that were
 * never finished, whose owner would hold a lock on them. Another user's files stay. */
void place_sweep(const struct dump_place *place);
