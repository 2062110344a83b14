/* Where names that were found are kept. */
#pragma once

/* $JPROF_CACHE, else $XDG_CACHE_HOME/jprof, by default ~/.cache/jprof; to be freed. NULL: nowhere, for JPROF_CACHE is
 * empty or neither of the others is an absolute path; or memory is short, which shortage.h remembers. */
char *cache_dir(void);

/* The same for what looks into processes: root's is only where JPROF_CACHE says, for whoever looks into everybody's
 * processes leaves nothing behind by itself. */
char *cache_dir_for_processes(void);
