/* The agent's descriptors. A program may close descriptors that are not its own (daemons do) and get their
 * numbers for files of its own; so each is known by its inode too, and looked at before it is used. After a
 * fork the child closes those it inherited. */
#ifndef AGENT_HANDLE_H
#define AGENT_HANDLE_H

#include <stdbool.h>

enum {
	HANDLE_WAKE_READ,
	HANDLE_WAKE_WRITE,
	HANDLE_LISTEN,
	HANDLE_DUMP,
	HANDLE_SIDECAR,
	HANDLE_BRIEF, /* open within one function */
	HANDLE_DIR,
	HANDLE_CLIENT, /* the first of them */
	HANDLE_CLIENTS = 8,
	HANDLE_COUNT = HANDLE_CLIENT + HANDLE_CLIENTS
};

/* Between the two no fork happens: what opens a descriptor and keeps it does so there. Nothing in between
 * may allocate or wait. */
void handle_lock(void);
void handle_unlock(void);

/* Keeps a descriptor, under the lock. -1 is kept as none; returns false for it. */
bool handle_keep(int slot, int fd);

/* Opens a file, close-on-exec, in place of what the slot has. Returns the descriptor, or -1 with errno. */
int handle_open(int slot, const char *path, int flags);

/* The descriptor, -1 if there is none or if its number now means another file. Async-signal-safe. */
int handle_fd(int slot);

void handle_close(int slot);

/* In the child, by the handler of pthread_atfork, instead of handle_unlock. */
void handle_forked(void);

#endif
