/* Files that are read at once. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* All of a file, with a NUL behind it, for free(). NULL with errno: EFBIG where it has more than `most` bytes; that
 * memory is short is noted. *len is set in any case. */
char *file_whole(const char *path, size_t most, size_t *len);

/* The first bytes of a file; how many these are, -1 where it cannot be opened. Asks for no memory. */
ssize_t file_begin(const char *path, void *head, size_t size);

/* Whether a file is an ELF core, or a compressed one by its name. */
bool is_core(const char *path);
