/* What `jprof info` says of a bundle before it comes to the dumps. */
#ifndef JEPROF_MEMBERS_H
#define JEPROF_MEMBERS_H

#include "jprof.h"

/* Prints the list of a bundle's members. */
void put_members(const char *path, const struct jprof_bundle *bundle);

#endif
