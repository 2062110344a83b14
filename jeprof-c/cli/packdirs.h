/* Where packs of names lie: the user's own, and those that were installed with jprof. */
#pragma once

/* $XDG_DATA_HOME/jprof/names (by default ~/.local/share/jprof/names) and the installed share/jprof/names, parted by a
 * comma, to be freed; whether they are there is not looked at. NULL when memory is short, which shortage.h remembers.
 */
char *pack_dirs(void);
