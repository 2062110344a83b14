/* Finds the jemalloc that a program is to be started with. */
#pragma once

#include "run/prove.h"

enum allocator_from {
	ALLOCATOR_GIVEN,     /* named by the user: --jemalloc or JPROF_JEMALLOC */
	ALLOCATOR_LINKED,    /* the program is linked with it; with the program's path: it is part of that */
	ALLOCATOR_PRELOADED, /* LD_PRELOAD has it already */
	ALLOCATOR_FOUND,     /* at a usual place or in ldconfig's cache, where only root or the caller can write */
};

struct allocator {
	char *path; /* owned; NULL: none that profiles */
	enum allocator_from from;
	struct proof proof;    /* of path */
	const char *conf_name; /* of a part of the program: the variable that it reads; static. NULL: MALLOC_CONF */
	const char
	    *hidden;     /* of a part of the program: the function that it does not export, so that no agent can ask it:
	                    "_rjem_mallctl"; static. NULL: it does */
	char *gives_way; /* the entry of LD_PRELOAD that cannot profile and is left out, or NULL; owned */
	char *tried;     /* why others are not it: "FILE: reason" parted by "; "; owned, never NULL */
};

/* A jemalloc that was linked into a program. */
struct own_jemalloc {
	const char *prefix;    /* of its functions: "", "je_", "_rjem_"; static */
	const char *mallctl;   /* with the prefix; static */
	const char *conf_name; /* MALLOC_CONF, JE_MALLOC_CONF, _RJEM_MALLOC_CONF; static */
	bool exported;         /* its mallctl can be seen by libraries: without, no agent finds it */
};

/* Whether the program holds one, by its symbols. */
bool own_jemalloc(const struct jprof_binary *program, struct own_jemalloc *own);

/* Looks, in this order, at `given` (NULL: none), what the program is linked with, what `preload` (LD_PRELOAD's text,
 * or NULL) has, usual places, and ldconfig's cache. Where there is one of the first three, it is the only one
 * considered: another one beside it would be a second allocator, or not what the user wants; but one in LD_PRELOAD that
 * was built without profiling gives way to one that has it. What is found is proved, unless it is part of the program;
 * path is NULL if nothing profiles. False when memory is short. */
bool allocator_find(struct allocator *allocator, const struct program *target, const char *given, const char *preload);

void allocator_free(struct allocator *allocator);

/* Takes the next file name off LD_PRELOAD's text: parted by colons and blanks. Length 0 at the end. */
const char *preload_next(const char **text, size_t *len);

/* The first jemalloc that LD_PRELOAD's text (or NULL) has for this program, as a path owned by the caller, or NULL.
 * With `other` (not NULL): if another library that defines malloc comes before, *other is that one's path, owned by the
 * caller, and there is no jemalloc in effect. */
char *preloaded_jemalloc(const struct program *target, const char *preload, char **other);

/* Whether the library at `path` is a jemalloc, by its symbols or its name. */
bool is_jemalloc(const char *path);

/* What the program's own loader says that it would load, as "/path" for the first library whose name begins so: a
 * jemalloc that the program is linked with. `preload` is what it is to preload, or NULL. NULL if there is none.
 * Nothing of the program runs. Owned by the caller, as below. */
char *linked_library(const struct program *target, const char *name, const char *preload);

/* Whether only the loader knows which file an entry of LD_PRELOAD means: a name without a slash is looked for in its
 * own places, and $LIB and its like are its words. */
bool is_for_loader(const char *entry);

/* The file that an entry of LD_PRELOAD means to the program's loader; NULL if there is none, or memory is short. */
char *preload_path(const struct program *target, const char *entry, size_t len);
