/* Small things about words and names. */
#pragma once

#include <stdbool.h>

#include "base/textparts.h"

/* What a program goes by: the name that it was started by (NULL or "": not known), else that of its file; not by one
 * that lacks but the version of that: ruby of ruby3.1. Part of either. */
const char *program_name(const char *path, const char *started);

/* "src/cache.cc:118": where a row's code is, by debug information: a relative path as it is, of another the file and
 * the directory that it is in. Empty: that is not known, or the name of the row has the file. */
struct source_place {
	char text[512];
};
struct source_place source_place(const char *name, const char *file, unsigned line);

/* Prints a name so that it stays on its line and steers no terminal: what jprof_visible_len does not let through as
 * \xNN. Whatever a process or a file told is printed by this. */
void put_name(const char *name);

/* Whether the text would be printed as it is. */
bool is_visible(const char *text);

/* A program that may be run: its path, owned by the caller, found as execvp finds it: a name with a slash is a path,
 * another is looked for in PATH. NULL: there is none. */
char *program_in_path(const char *name);
bool is_executable(const char *path);

/* Whether the word is the number of a process, in digits alone. */
bool is_pid(const char *word, int *pid);
