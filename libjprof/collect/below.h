/* Opening what a live process sees: through its opener, or, without one, with the caller's own rights by the same
 * rules. */
#pragma once

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "collect/target.h"

/* See struct jprof_opener. */
int jp_below_open(const struct jprof_target *target, enum jprof_open what, const char *path, struct stat *st);
int jp_below_remove(const struct jprof_target *target, const char *path, const struct stat *st);

/* Connects a new, blocking socket, which shows who speaks, and makes it non-blocking. Waits for half a second at most
 * until the listener's queue has a place. 0, or -1 with errno set; EAGAIN: there was none. */
int jp_below_connect(int fd, const struct sockaddr_un *address, socklen_t len);
