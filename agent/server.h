/* The control socket. */
#pragma once

#include <poll.h>
#include <stdbool.h>

enum { SERVER_POLLS = 9 /* the listener and the clients */ };

/* Opens the socket in the directory of the dumps; where that takes none, in the abstract namespace. Returns its
 * name as it is announced, "" where there is none. */
const char *server_open(void);

/* Fills in what to wait for; unused ones are -1. */
void server_polls(struct pollfd *polls);

/* How long may be waited at most, in ms, until a silent client must make room; -1: for ever. */
int server_timeout(void);

/* Serves what is ready. */
void server_serve(const struct pollfd *polls);

/* Has it a file? */
bool server_has_file(void);

/* Takes the socket's file away. */
void server_unlink(void);

/* In a forked child: the file is the parent's. */
void server_forked(void);

/* Why there is no socket: the errno of the last try, 0 if it was made. */
int server_error(void);
