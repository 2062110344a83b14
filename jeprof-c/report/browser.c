#include "report/browser.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/say.h"

extern char **environ;

/* All of it to a new file. 0, or errno. */
static int fill_file(const char *path, const char *data, size_t len)
{
	FILE *file = fopen(path, "wxe");
	if (!file)
		return errno;
	int why = fwrite(data, 1, len, file) == len ? 0 : errno;
	if (fclose(file) && !why)
		why = errno;
	return why;
}

/* A new directory in $TMPDIR or /tmp, mode 0700, and a file in it; neither is left where that fails. */
static bool make_file(char *path, size_t size, const char *name, const char *data, size_t len)
{
	const char *tmp = getenv("TMPDIR");
	snprintf(path, size, "%s/jprof-XXXXXX", tmp && *tmp == '/' ? tmp : "/tmp");
	if (!mkdtemp(path)) {
		say("%s: cannot be made: %s; give -o FILE", path, strerror(errno));
		return false;
	}
	size_t used = strlen(path);
	snprintf(path + used, size - used, "/%s", name);
	int why = fill_file(path, data, len);
	if (!why)
		return true;
	unlink(path);
	say("%s: cannot be written: %s; give -o FILE", path, strerror(why));
	path[used] = '\0';
	rmdir(path);
	return false;
}

static bool open_in_browser(const char *path)
{
	char *argv[] = { "xdg-open", (char *)path, NULL };
	pid_t pid;
	int status = 0, rc = posix_spawnp(&pid, *argv, NULL, NULL, argv, environ);
	if (rc) {
		say("xdg-open cannot be run: %s; install xdg-utils, or open %s yourself", strerror(rc), path);
		return false;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return true;
	say("xdg-open found nothing to open %s with; open it in a browser yourself", path);
	return false;
}

bool browser_show(const char *given, const char *name, const char *data, size_t len)
{
	char made[PATH_MAX];
	if (!given && !make_file(made, sizeof made, name, data, len))
		return false;
	char *path = realpath(given ? given : made, NULL); /* it looks like no option and no address */
	bool good = path && open_in_browser(path);
	if (good && !given)
		say("the %s is %s", strstr(name, ".svg") ? "picture" : "page", path);
	free(path);
	return good;
}
