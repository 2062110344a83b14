/* What a command line would run: the ELF file behind a command, found as execvp and the kernel find it. */
#ifndef JEPROF_TARGET_H
#define JEPROF_TARGET_H

#include "jprof.h"

struct target {
	char *path;       /* the ELF file, absolute; owned */
	char *via;        /* the first script or env on the way to it, or NULL; owned */
	const char *name; /* its file name; part of path */
	bool secure;      /* setuid, setgid or with file capabilities: the loader ignores LD_PRELOAD */
	bool may_be;      /* a shell or launcher: what it starts may be another program */
	struct jprof_binary *binary;
};

/* Follows the command `argv` (NULL-terminated): PATH, "#!" lines, env and its assignments. Nothing is started.
 * 0, or a code with the reason in *err. */
int target_find(struct target *target, char *const *argv, struct jprof_error *err);

/* The same for an ELF file that is known already. Takes no ownership of `path`. */
int target_open(struct target *target, const char *path, struct jprof_error *err);

void target_free(struct target *target);

/* Whether a library of one can be loaded into the other: class, machine, byte order and C library. A library that
 * does not tell its C library fits. */
bool target_fits(const struct jprof_binary_info *program, const struct jprof_binary_info *library);

/* "x86-64, glibc" in `text`. */
void target_describe(const struct jprof_binary_info *info, char *text, size_t size);

/* Whether the program is a Ruby interpreter, by its name. */
bool target_is_ruby(const struct target *target);

#endif
