/* The agent's descriptors.
 *
 * Where the kernel lets it, and no Ruby is, the agent's thread has a table of descriptors of its own (handle_part):
 * nothing of the program is in it, nothing of the agent's, but the pipe that wakes it, is in the program's. Then a fork
 * inherits none, and a program that closes descriptors which are not its own, as daemons do, closes none.
 *
 * Else the two share the program's table: each descriptor is known by its inode too, and looked at before it is used,
 * and after a fork the child closes those that it inherited. What opens a file is not under the lock, for that may
 * take for ever; so a child that is forked at that very moment may keep a close-on-exec descriptor. */
#pragma once

#include <stdbool.h>

enum {
	HANDLE_WAKE_READ,
	HANDLE_WAKE_WRITE,
	HANDLE_LISTEN,
	HANDLE_PEER, /* who connected, until it is known whether it may ask */
	HANDLE_DUMP, /* in memory */
	HANDLE_PART, /* the dump's file */
	HANDLE_SIDECAR,
	HANDLE_TABLE,
	HANDLE_BRIEF, /* open within one function */
	HANDLE_DIR,
	HANDLE_GRAPH_READ, /* the pipe of graphchild.h */
	HANDLE_GRAPH_WRITE,
	HANDLE_CLIENT, /* the first of them */
	HANDLE_CLIENTS = 8,
	HANDLE_COUNT = HANDLE_CLIENT + HANDLE_CLIENTS
};

/* The calling thread's descriptor, as a path: for printf, with its number. */
#define HANDLE_PATH "/proc/thread-self/fd/%d"

/* Between the two no fork happens: what makes a descriptor without a file system (a socket, a pipe, a memfd) and keeps
 * it does so there. Nothing in between may allocate, wait, or touch a file system. */
void handle_lock(void);
void handle_unlock(void);

/* On the agent's thread: gives it a table of its own, with the pipe alone in it. False where it stays the program's. */
bool handle_part(void);

/* Keeps a descriptor, under the lock if there is a need for it. -1 is kept as none; returns false for it. */
bool handle_keep(int slot, int fd);

/* Opens a file, close-on-exec, in place of what the slot has; a new one for its owner alone. Returns the descriptor, or
 * -1 with errno. */
int handle_open(int slot, const char *path, int flags);

/* Makes a memfd in place of what the slot has. `flags` are left out where the kernel does not know them. Returns the
 * descriptor, or -1 with errno. */
int handle_memory(int slot, const char *name, unsigned flags);

/* The calling thread's descriptor, -1 if there is none or if its number now means another file. Async-signal-safe. */
int handle_fd(int slot);

/* Gives a descriptor to another slot, which has none. */
void handle_move(int from, int to);

void handle_close(int slot);

/* In the child, by the handler of pthread_atfork, instead of handle_unlock. */
void handle_forked(void);
