#include "cli/names.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/shortage.h"
#include "cli/terminal.h"
#include "jprof.h"

const char *program_name(const char *path, const char *started)
{
	const char *file = jp_basename(path);
	size_t len = started ? strlen(started) : 0;
	bool versioned = len && !strncmp(file, started, len) && !file[len + strspn(file + len, "0123456789.-")];
	return len && !versioned ? started : file;
}

/* Of an absolute path the last two parts. */
static const char *short_source(const char *file)
{
	const char *name = jp_basename(file), *at = name;
	if (*file != '/' || name - file < 2)
		return file;
	for (at -= 2; at > file && *at != '/'; at--)
		;
	return at + 1;
}

struct source_place source_place(const char *name, const char *file, unsigned line)
{
	struct source_place place = { "" };
	if (!file || !*file || strstr(name, jp_basename(file)))
		return place;
	if (line)
		snprintf(place.text, sizeof place.text, "%s:%u", short_source(file), line);
	else
		snprintf(place.text, sizeof place.text, "%s", short_source(file));
	return place;
}

void put_name(const char *name)
{
	terminal_put(stdout, name);
}

bool is_visible(const char *text)
{
	size_t left = strlen(text), n = 1;
	for (; left && n; text += n, left -= n)
		n = jprof_visible_len(text, left);
	return n;
}

bool is_pid(const char *word, int *pid)
{
	char *end;
	errno = 0;
	long n = strtol(word, &end, 10);
	*pid = (int)n;
	return *word >= '0' && *word <= '9' && !*end && !errno && n > 0 && n <= INT_MAX;
}

bool is_executable(const char *path)
{
	struct stat st;
	return !stat(path, &st) && S_ISREG(st.st_mode) && !access(path, X_OK);
}

char *program_in_path(const char *name)
{
	if (strchr(name, '/'))
		return shortage_note(strdup(name));
	const char *dir = getenv("PATH");
	char *path = NULL;
	for (dir = dir ? dir : "/bin:/usr/bin"; dir; dir = strchr(dir, ':') ? strchr(dir, ':') + 1 : NULL) {
		int len = (int)strcspn(dir, ":");
		if (shortage_unprinted(asprintf(&path, "%.*s/%s", len ? len : 1, len ? dir : ".", name)))
			return NULL;
		if (is_executable(path))
			return path;
		free(path);
	}
	return NULL;
}
