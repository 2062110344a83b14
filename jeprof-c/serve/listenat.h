/* Where the server listens: an address and a port, or a unix socket. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

struct listener {
	int fd;           /* -1: none. Non-blocking, close-on-exec */
	bool loopback;    /* only this machine reaches it, by an address that a web page could have a browser ask */
	char url[256];    /* what clients ask, without a path: "http://127.0.0.1:6060"; "unix:PATH" */
	const char *path; /* of a unix socket, from `where`; NULL: none */
	dev_t dev;
	ino_t ino;
};

/* Listens at "127.0.0.1:6060", "[::1]:6060", "localhost:6060" (port 0: one that is free) or "unix:PATH", which lives
 * as long as the listener. A unix socket is for its owner alone, in a directory in which nobody else may make or
 * remove files; one that the caller's user left there is replaced if nobody listens, and nothing else ever is. False
 * after having said what is wrong. */
bool listener_begin(struct listener *listener, const char *where);

/* Stops, and removes the unix socket if it is still that one. */
void listener_end(struct listener *listener);
