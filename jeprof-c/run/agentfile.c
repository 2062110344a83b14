#include "run/agentfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/shortage.h"
#include "cli/trust.h"

/* Gives a path that is there with all links and dots resolved, owned by the caller; NULL if it is not to be used. */
typedef char *resolver_fn(const char *path);

static char *any_path(const char *path)
{
	return shortage_note(realpath(path, NULL));
}

static char *named(const char *dir, const char *below, const char *dash, const char *libc, resolver_fn *resolve)
{
	char path[4096];
	int n = snprintf(path, sizeof path, "%s%s/libjprof-agent%s%s.so", dir, below, dash, libc);
	return n > 0 && (size_t)n < sizeof path ? resolve(path) : NULL;
}

static char *there(const char *dir, const char *below, const char *libc, resolver_fn *resolve)
{
	char *found = *libc ? named(dir, below, "-", libc, resolve) : NULL;
	return found ? found : named(dir, below, "", "", resolve);
}

char *agent_file(const char *libc)
{
	const char *set = getenv("JPROF_AGENT_LIB");
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	if (set && *set)
		return any_path(set);
	exe[n > 0 ? n : 0] = '\0';
	char *slash = strrchr(exe, '/'), *found = NULL;
	if (slash) {
		*slash = '\0';
		found = there(exe, "/../agent", libc, any_path);
	}
	if (!found)
		found = there(JPROF_LIBDIR, "/jprof", libc, any_path);
	/* A tree that was moved as a whole, and files that were copied into one folder. */
	if (!found && slash)
		found = there(exe, "/../" JPROF_LIBDIR_NAME "/jprof", libc, any_path);
	if (!found && slash)
		found = there(exe, "", libc, trusted_path);
	return found;
}
