/* What a command line would run: the ELF file behind a command, found as execvp and the kernel find it. */
#pragma once

#include "jprof.h"

struct program {
	char *path;       /* the ELF file, absolute; owned */
	char *via;        /* the first script or env on the way to it, or NULL; owned */
	char *script;     /* name of the first script on the way, or NULL; owned. A shim starts a program of its name */
	const char *name; /* its file name; part of path */
	bool secure;      /* setuid, setgid or with file capabilities: the loader ignores LD_PRELOAD */
	bool may_be;      /* a shell or launcher: what it starts may be another program */

	/* Of the launchers on the way; parts of the command line, or NULL. */
	const char *user;       /* that the program runs as: "app", "app:app", "1000" */
	const char *dropped_by; /* a launcher that does not hand on LD_PRELOAD: sudo */
	const char *sets;       /* LD_PRELOAD=... or MALLOC_CONF=... of an env */
	struct jprof_binary *binary;
};

/* Follows the command `argv` (NULL-terminated): PATH, "#!" lines, launchers whose words are known. Nothing is started.
 * 0, or a code with the reason in *err. */
int program_find(struct program *target, char *const *argv, struct jprof_error *err);

/* The same for an ELF file that is known already. Takes no ownership of `path`. */
int program_open(struct program *target, const char *path, struct jprof_error *err);

void program_free(struct program *target);

/* Whether a library of one can be loaded into the other: class, machine, byte order and C library. A library that
 * does not tell its C library fits. */
bool program_fits(const struct jprof_binary_info *program, const struct jprof_binary_info *library);

/* "x86-64, glibc" in `text`. */
void program_describe(const struct jprof_binary_info *info, char *text, size_t size);

/* Whether the program is a Ruby interpreter, by its name. */
bool program_is_ruby(const struct program *target);

/* jprof_binary_defines and jprof_binary_exports, where memory that is short is noted: cli/shortage.h. */
bool binary_defines(const struct jprof_binary *binary, const char *name);
bool binary_exports(const struct jprof_binary *binary, const char *name);
