/* A snapshot in memory, for a command that looks at live processes itself: it leaves no file. */
#pragma once

#include "jprof-live.h"
#include "snap/snapmember.h"

struct memsnap {
	char *bundle; /* owned, as the rest */
	size_t len, cap;
	struct jprof_processes *list; /* the processes that were meant */
	bool dumped;                  /* false: none of them could be dumped, and the bundle has what /proc says */
	char why[1024];               /* then, in words: why not; "": that was said */
	struct snap_heaps heaps;      /* then, with snap_options.heaps: what their own memory says */
};

/* Has the processes dump that the options select, as `jprof snap` does. Signals that end the program remove what the
 * processes wrote. False after having said what is wrong; to be freed in either case. */
bool memsnap_take(struct memsnap *snap, const struct snap_options *options);

/* The same of a core: what its memory says. */
bool memsnap_of_core(struct memsnap *snap, const char *path, const struct snap_options *options);

/* For interrupt_catch of a program that has more to take back: removes what the processes wrote for the snapshot that
 * is under way. On another thread, when the program is about to end. */
void memsnap_take_back(void);

void memsnap_free(struct memsnap *snap);
