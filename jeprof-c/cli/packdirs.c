#include "cli/packdirs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/shortage.h"

/* The directory of data that belongs to this program, as installed, or in a tree that was moved as a whole. */
static void installed_data(char *path, size_t size)
{
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	exe[n > 0 ? n : 0] = '\0';
	char *slash = strrchr(exe, '/');
	if (slash)
		*slash = '\0';
	if (!slash || !strcmp(exe, JPROF_BINDIR))
		snprintf(path, size, "%s", JPROF_DATADIR);
	else
		snprintf(path, size, "%s/../share", exe);
}

char *pack_dirs(void)
{
	const char *data = getenv("XDG_DATA_HOME"), *home = getenv("HOME");
	char installed[4096 + 16], *dirs = NULL;
	bool own = data && *data == '/';
	installed_data(installed, sizeof installed);
	int n = own || (home && *home == '/') ? asprintf(&dirs, "%s%s/jprof/names,%s/jprof/names", own ? data : home,
	                                                 own ? "" : "/.local/share", installed)
	                                      : asprintf(&dirs, "%s/jprof/names", installed);
	return shortage_note(n < 0 ? NULL : dirs);
}
