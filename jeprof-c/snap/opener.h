/* Opens files as a live process sees them, in a child process that has that process's rights and no more. Who collects
 * as root would else open, read and remove for a process what it could not itself. The child also takes the risk of
 * file systems that hang: what does not come in time is given up, and the child is ended. */
#pragma once

#include <stdbool.h>

#include "jprof-live.h"
#include "snap/places.h"

struct opener;

/* Starts the child and has the target use it. Each request may take `timeout` ms. *opener is NULL where the caller has
 * no more rights than the process, and opens its files itself. 0, or a code with the reason in *err. */
int opener_start(struct opener **opener, struct jprof_target *target, const struct jprof_process *process,
                 unsigned timeout, struct jprof_error *err);

/* Looks at what lies at a path, without following a link at its end where `link` is set: 0, or -1 with errno set. With
 * an opener of NULL the caller looks, at the process `pid`; at what it sees itself where that is 0. */
int opener_look(struct opener *opener, int pid, const char *path, bool link, struct look *look);

/* For the library; NULL for NULL. It lives as long as the opener. */
const struct jprof_opener *opener_functions(const struct opener *opener);

/* Ends the child. NULL is fine. */
void opener_end(struct opener *opener);
