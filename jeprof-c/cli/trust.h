/* Whether a file may be run by us: whose code it is. */
#pragma once

/* The path with all links resolved, owned by the caller, if it is a regular file that nobody but root and the caller
 * can change or replace: it and all directories above belong to one of the two, and others may not write to them (but
 * for directories with the sticky bit, as /tmp, and a group of the caller's own number, which by custom has no other
 * member). Else NULL. */
char *trusted_path(const char *path);
