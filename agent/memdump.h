/* A dump that is made in memory: jemalloc holds a lock that fork takes over open and write of a dump, so these must not
 * wait for a file system. */
#pragma once

#include <stdbool.h>

/* Makes an empty file in memory for a dump or its side-car. Returns NULL, or why there is none. */
const char *memdump_open(int slot);

/* Is the dump to come small enough? Returns NULL, or why not. */
const char *memdump_refusal(void);

/* Has jemalloc write its dump there. Returns NULL, or why it did not come about. */
const char *memdump_write(int slot);

/* The next dump is expected to be no smaller than this whole one. */
void memdump_note_size(int fd);

/* Takes from all, now and for ever, the right to change what the file has and how long it is. */
bool memdump_seal(int slot);

/* Copies the dump to a file. Returns 0 or an errno. */
int memdump_copy(int slot, int file);

/* In a forked child: the parent's dumps were of another size. */
void memdump_forked(void);
