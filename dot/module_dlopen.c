/* Built with libgvc: the module lies in its place, LIBDIR/jprof, or there beside the program in a tree that was moved
 * as a whole, or in its build directory. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "module.h"

/* BUILD/jeprof-c/jprof uses BUILD/dot/; any other program the installed module. */
static void find(char *path, size_t size)
{
	static const char build[] = "/jeprof-c/jprof";
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	size_t tail = sizeof build - 1;
	if (n > (ssize_t)tail && !memcmp(self + n - tail, build, tail))
		snprintf(path, size, "%.*s/dot/" DOT_MODULE_FILE, (int)((size_t)n - tail), self);
	else
		snprintf(path, size, "%s/" DOT_MODULE_FILE, JPROF_MODULES);
	char *slash = n > 0 ? memrchr(self, '/', (size_t)n) : NULL;
	if (slash && access(path, F_OK))
		snprintf(path, size, "%.*s/../" JPROF_LIBDIR_NAME "/jprof/" DOT_MODULE_FILE, (int)(slash - self), self);
}

const struct dot_module *dot_module(struct jprof_error *err)
{
	static const struct dot_module *module;
	char path[4200];
	if (module)
		return module;
	*err = (struct jprof_error){ .code = JPROF_E_UNSUPPORTED };
	find(path, sizeof path);
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct dot_module *found = handle ? dlsym(handle, DOT_MODULE_SYMBOL) : NULL;
	if (found && !strcmp(found->version, jprof_version()))
		return module = found;
	if (found)
		snprintf(err->text, sizeof err->text, "%.300s is of jprof %s, this is %s; install both anew", path,
		         found->version, jprof_version());
	else if (access(path, F_OK))
		snprintf(err->text, sizeof err->text, "%.380s is missing; install jprof whole; --dot works", path);
	else
		snprintf(
		    err->text, sizeof err->text,
		    "pictures need Graphviz' library: %.380s; install libgvc6 (Debian) or graphviz (Alpine); --dot works",
		    dlerror());
	return NULL;
}
