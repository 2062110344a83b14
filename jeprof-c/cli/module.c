#include "cli/module.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "cli/say.h"
#include "cli/trust.h"

/* The path of this program; its length, 0 where that is not known. */
static size_t find_self(char *path, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", path, size - 1);
	path[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* Whether BIN/../lib/jprof/FILE is there and may be run. Not where others can write it, as they can if BIN is in /tmp;
 * and not with rights that the user does not have, for a user may have linked such a program to another place. */
static bool has_beside(const struct module *m, const char *self, char *path, size_t size)
{
	const char *slash = strrchr(self, '/');
	if (!slash || getauxval(AT_SECURE))
		return false;
	snprintf(path, size, "%.*s/../" JPROF_LIBDIR_NAME "/jprof/%s", (int)(slash - self), self, m->file);
	char *trusted = trusted_path(path);
	if (trusted)
		snprintf(path, size, "%s", trusted);
	free(trusted);
	return trusted != NULL;
}

/* BUILD/jeprof-c/jprof uses the modules of BUILD; any other program uses those beside itself, or the installed ones. */
static void find_module(const struct module *m, char *path, size_t size)
{
	static const char build[] = "/jeprof-c/jprof";
	char self[4096];
	size_t n = find_self(self, sizeof self), tail = sizeof build - 1;
	if (n > tail && !strcmp(self + n - tail, build))
		snprintf(path, size, "%.*s/%s/%s", (int)(n - tail), self, m->folder, m->file);
	else if (!has_beside(m, self, path, size))
		snprintf(path, size, "%s/jprof/%s", JPROF_LIBDIR, m->file);
}

const void *module_load(const struct module *m, struct jprof_error *err)
{
	char path[4200];
	find_module(m, path, sizeof path);
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const void *table = handle ? dlsym(handle, m->symbol) : NULL;
	const char *version = table ? *(const char *const *)table : NULL;
	if (version && !strcmp(version, jprof_version()))
		return table;
	if (version)
		fail_as(err, JPROF_E_UNSUPPORTED, "", "%.300s is of jprof %.20s, this is %s; install both anew", path,
		        version, jprof_version());
	else if (access(path, F_OK))
		fail_as(err, JPROF_E_UNSUPPORTED, "", "%.380s is missing; install jprof whole", path);
	else
		fail_as(err, JPROF_E_UNSUPPORTED, "", "%s: %.300s; install %s", m->purpose, dlerror(), m->packages);
	return NULL;
}
