#include "report/browser.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/say.h"

extern char **environ;

/* A new directory in $TMPDIR or /tmp, mode 0700, and a file in it. */
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
	FILE *file = fopen(path, "wxe");
	bool good = file && fwrite(data, 1, len, file) == len;
	good = file && !fclose(file) && good;
	if (!good)
		say("%s: cannot be written: %s", path, strerror(errno));
	return good;
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
