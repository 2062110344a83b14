#include "cli/procenv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/wholefile.h"

enum { env_max = 4 << 20 };

/* A program that sets its title writes it over its arguments and then over its environment. */
static bool is_whole(const char *env, size_t len)
{
	size_t good = 0;
	for (const char *p = env; p < env + len; p += strlen(p) + 1) {
		const char *equals = strchr(p, '=');
		if (!equals || equals == p)
			return false;
		good++;
	}
	return good > 0;
}

/* A longer one goes on into the environment without a NUL between; then the kernel shows more arguments than
 * there is room for, by fields 48 and 49 of /proc/PID/stat (arg_start and arg_end). */
static bool title_overflows(int pid)
{
	enum { arg_start = 48, arg_end = 49, first = 3 };
	char path[64], *rest;
	size_t len, shown;
	unsigned long long bounds[2] = { 0, 0 };
	snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
	free(file_whole(path, env_max, &shown));
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	char *stat = file_whole(path, env_max, &len), *at = stat ? strrchr(stat, ')') : NULL;
	char *word = at ? strtok_r(at + 1, " \n", &rest) : NULL;
	for (int field = first; word && field <= arg_end; field++, word = strtok_r(NULL, " \n", &rest))
		if (field >= arg_start)
			bounds[field - arg_start] = strtoull(word, NULL, 10);
	free(stat);
	return bounds[0] && bounds[1] > bounds[0] && shown > bounds[1] - bounds[0];
}

bool procenv_read(struct procenv *env, int pid)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/%d/environ", pid);
	env->text = file_whole(path, env_max, &env->len);
	if (env->text && (!is_whole(env->text, env->len) || title_overflows(pid)))
		procenv_free(env);
	return env->text != NULL;
}

const char *procenv_get(const struct procenv *env, const char *name)
{
	size_t n = strlen(name);
	for (const char *p = env->text; p && p < env->text + env->len; p += strlen(p) + 1)
		if (!strncmp(p, name, n) && p[n] == '=')
			return p + n + 1;
	return NULL;
}

void procenv_free(struct procenv *env)
{
	free(env->text);
	*env = (struct procenv){ 0 };
}
