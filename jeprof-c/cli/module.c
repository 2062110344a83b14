#include "cli/module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/say.h"

/* BUILD/jeprof-c/jprof uses the modules of BUILD; any other program those that are installed. */
static void find_module(const struct module *m, char *path, size_t size)
{
	static const char build[] = "/jeprof-c/jprof";
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	size_t tail = sizeof build - 1;
	if (n > (ssize_t)tail && !memcmp(self + n - tail, build, tail))
		snprintf(path, size, "%.*s/%s/%s", (int)((size_t)n - tail), self, m->folder, m->file);
	else
		snprintf(path, size, "%s/jprof/%s", JPROF_LIBDIR, m->file);
	char *slash = n > 0 ? memrchr(self, '/', (size_t)n) : NULL;
	if (slash && access(path, F_OK))
		snprintf(path, size, "%.*s/../" JPROF_LIBDIR_NAME "/jprof/%s", (int)(slash - self), self, m->file);
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
