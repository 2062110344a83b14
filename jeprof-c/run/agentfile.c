#include "run/agentfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/shortage.h"

static const char name[] = "libjprof-agent.so";

/* The file if it is there, with all links and dots resolved. */
static char *there(const char *dir, const char *below)
{
	char path[4096];
	int n = snprintf(path, sizeof path, "%s%s/%s", dir, below, name);
	return n > 0 && (size_t)n < sizeof path ? shortage_note(realpath(path, NULL)) : NULL;
}

char *agent_file(void)
{
	const char *set = getenv("JPROF_AGENT_LIB");
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	if (set && *set)
		return shortage_note(realpath(set, NULL));
	exe[n > 0 ? n : 0] = '\0';
	char *slash = strrchr(exe, '/'), *found = NULL;
	if (slash) {
		*slash = '\0';
		found = there(exe, "/../agent");
	}
	if (!found)
		found = there(JPROF_LIBDIR, "/jprof");
	/* A tree that was moved as a whole. */
	if (!found && slash)
		found = there(exe, "/../" JPROF_LIBDIR_NAME "/jprof");
	return found;
}
