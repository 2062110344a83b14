/* What `jprof info` says of a bundle before it comes to the dumps. */
#ifndef JEPROF_MEMBERS_H
#define JEPROF_MEMBERS_H

#include "jprof.h"

/* Prints the list of a bundle's members, at most so many of them. Returns how many lines that are. */
size_t put_members(const char *path, const struct jprof_bundle *bundle, size_t most);

#endif
