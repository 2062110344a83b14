#include "cli/cachedir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/shortage.h"

char *cache_dir(void)
{
	const char *own = getenv("JPROF_CACHE"), *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	bool usual = cache && *cache == '/';
	char *dir = NULL;
	if (own)
		return *own ? shortage_note(strdup(own)) : NULL;
	if (!usual && !(home && *home == '/'))
		return NULL;
	int n = asprintf(&dir, "%s%s/jprof", usual ? cache : home, usual ? "" : "/.cache");
	return shortage_note(n < 0 ? NULL : dir);
}

char *cache_dir_for_processes(void)
{
	return geteuid() || getenv("JPROF_CACHE") ? cache_dir() : NULL;
}
