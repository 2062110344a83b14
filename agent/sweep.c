/* What dead processes left: see place.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "handle.h"
#include "place.h"

struct sweep {
	int dir;
	const char *base;
};

static bool ends_with(const char *s, const char *end)
{
	size_t len = strlen(s), end_len = strlen(end);
	return len >= end_len && strcmp(s + len - end_len, end) == 0;
}

/* The process of a socket's name may live in this namespace. Others are asked. */
static bool seems_alive(const char *name)
{
	pid_t pid = (pid_t)atoi(name + strlen(".jprof-agent."));
	return pid > 0 && pid != getpid() && (kill(pid, 0) == 0 || errno == EPERM);
}

static void sweep_socket(const struct sweep *sweep, const char *name)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	struct stat st;
	int len = snprintf(address.sun_path, sizeof address.sun_path, HANDLE_PATH "/%s", sweep->dir, name);
	if (len < 0 || (size_t)len >= sizeof address.sun_path || seems_alive(name))
		return;
	if (fstatat(sweep->dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISSOCK(st.st_mode) || st.st_uid != geteuid())
		return;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (connect(fd, (const struct sockaddr *)&address, sizeof address) != 0 && errno == ECONNREFUSED)
		unlinkat(sweep->dir, name, 0);
	close(fd);
}

static void remove_ending(int dir, const char *stem, size_t stem_len, const char *ending)
{
	char name[NAME_MAX + 1];
	if (snprintf(name, sizeof name, "%.*s%s", (int)stem_len, stem, ending) < (int)sizeof name)
		unlinkat(dir, name, 0);
}

/* Side-car and table of a dump that was never seen go too. Where both names of a dump are there, it was killed
 * between giving it the second and taking the first, and is whole. */
static void remove_unfinished(int dir, const char *name)
{
	size_t len = strlen(name) - strlen(".part");
	char whole[NAME_MAX + 1];
	struct stat st;
	snprintf(whole, sizeof whole, "%.*s", (int)len, name);
	if (fstatat(dir, whole, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		remove_ending(dir, name, len, ".json.part");
		remove_ending(dir, name, len, ".json");
		remove_ending(dir, name, len, ".ruby.part");
		remove_ending(dir, name, len, ".ruby");
	}
	unlinkat(dir, name, 0);
}

static void sweep_part(const struct sweep *sweep, const char *name)
{
	struct stat st;
	int fd = openat(sweep->dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && st.st_nlink > 0 &&
	    flock(fd, LOCK_EX | LOCK_NB) == 0)
		remove_unfinished(sweep->dir, name);
	close(fd);
}

/* Is it BASE.NUMBER.NUMBER.jNUMBER.heap.part? */
static bool is_part(const char *name, const char *base)
{
	size_t len = strlen(base);
	unsigned pid, seq, n;
	int end = 0;
	if (strncmp(name, base, len) != 0)
		return false;
	return sscanf(name + len, ".%u.%u.j%u.heap.part%n", &pid, &seq, &n, &end) == 3 && end &&
	       !name[len + (size_t)end];
}

static bool sweep_entry(const char *name, void *arg)
{
	const struct sweep *sweep = arg;
	if (strncmp(name, ".jprof-agent.", 13) == 0 && ends_with(name, ".sock"))
		sweep_socket(sweep, name);
	else if (is_part(name, sweep->base))
		sweep_part(sweep, name);
	return true;
}

void place_sweep(const struct dump_place *place)
{
	struct sweep sweep = { handle_open(HANDLE_DIR, place->dir, O_PATH | O_DIRECTORY), place->base };
	if (sweep.dir < 0)
		return;
	place_entries(place->dir, sweep_entry, &sweep);
	handle_close(HANDLE_DIR);
}
