/* Waiting for a dump that a signal was the cause of. inotify only says when to look again: some file systems have
 * none, so that the directory is looked at now and then anyway. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/textparts.h"
#include "collect/below.h"
#include "collect/dumpfile.h"
#include "collect/dumpsidecar.h"

enum { look_every_ms = 100, tail_bytes = 1 << 16 };

/* A file as it was when it was looked at. */
struct seen {
	const char *name;
	struct stat st;
	bool fresh; /* new or changed since the signal, and not yet given out */
};

struct jprof_dump_watch {
	const struct jprof_target *target;
	struct jp_arena arena;
	char *prefix; /* as given */
	int dir, inotify;
	bool agent;
	char part[NAME_MAX + 1]; /* "PREFIX.PID." */
	bool anywhere;           /* names need not begin with it */
	struct seen *seen;       /* all dumps that there are */
	size_t count, cap;
};

static void close_listing(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static bool is_dump_name(const struct jprof_dump_watch *w, const char *name)
{
	static const char end[] = ".heap";
	size_t len = strlen(name), part = strlen(w->part);
	const char *at = w->anywhere ? strstr(name, w->part) : strncmp(name, w->part, part) ? NULL : name;
	return at && len >= sizeof end - 1 && !strcmp(name + len - (sizeof end - 1), end);
}

static struct seen *find_seen(const struct jprof_dump_watch *w, const char *name)
{
	for (size_t i = 0; i < w->count; i++)
		if (!strcmp(w->seen[i].name, name))
			return &w->seen[i];
	return NULL;
}

static bool is_unchanged(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Notes how the file is now; *changed tells whether that is new. NULL when memory is short. */
static struct seen *note(struct jprof_dump_watch *w, const char *name, const struct stat *st, bool *changed)
{
	struct seen *seen = find_seen(w, name);
	if (!seen) {
		const char *copy = jp_arena_dup(&w->arena, name, strlen(name));
		if (!copy || jp_array_push(w->seen, w->count, w->cap))
			return NULL;
		seen = &w->seen[w->count++];
		*seen = (struct seen){ .name = copy };
	}
	*changed = !is_unchanged(&seen->st, st);
	seen->fresh = seen->fresh || *changed;
	seen->st = *st;
	return seen;
}

static DIR *open_listing(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *listing = fd < 0 ? NULL : fdopendir(fd);
	if (!listing)
		jp_file_close(&fd);
	return listing;
}

static int cannot_list(const struct jprof_dump_watch *w, const char *prefix, struct jprof_error *err)
{
	return jp_error(err, JPROF_E_IO, NULL, 0,
	                "process %d: the directory of its dumps (prof_prefix %s) cannot be read: %s", w->target->pid,
	                prefix, jp_file_why(errno));
}

/* What is there before the signal is not it. */
static int note_all(struct jprof_dump_watch *w, const char *prefix, struct jprof_error *err)
{
	struct stat st;
	bool changed;
	DIR *jp_cleanup(close_listing) dir = open_listing(w->dir);
	if (!dir)
		return cannot_list(w, prefix, err);
	for (struct dirent *e; (e = readdir(dir));)
		if (is_dump_name(w, e->d_name) && !fstatat(w->dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    !note(w, e->d_name, &st, &changed))
			return jp_error_nomem(err);
	for (size_t i = 0; i < w->count; i++)
		w->seen[i].fresh = false;
	return 0;
}

static void start_inotify(struct jprof_dump_watch *w)
{
	char held[32];
	w->inotify = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	snprintf(held, sizeof held, "/proc/self/fd/%d", w->dir);
	if (w->inotify >= 0 && inotify_add_watch(w->inotify, held, IN_MOVED_TO | IN_CLOSE_WRITE | IN_CREATE) < 0)
		jp_file_close(&w->inotify);
}

/* The directory of a prefix: "." where it has none. */
static int open_watched(const struct jprof_target *target, const char *prefix)
{
	char dir[PATH_MAX];
	struct stat st;
	size_t len = (size_t)(jp_basename(prefix) - prefix);
	if (len >= sizeof dir) {
		errno = ENAMETOOLONG;
		return -1;
	}
	snprintf(dir, sizeof dir, "%.*s", (int)len, prefix);
	return jp_below_open(target, JPROF_OPEN_DIR, len ? dir : ".", &st);
}

int jprof_target_watch(const struct jprof_target *target, const char *prefix, bool agent, struct jprof_dump_watch **out,
                       struct jprof_error *err)
{
	if (jp_null(err, target, prefix, out))
		return JPROF_E_ARGUMENT;
	struct jprof_dump_watch *w = calloc(1, sizeof *w);
	if (!w)
		return jp_error_nomem(err);
	w->target = target;
	w->agent = agent;
	w->inotify = -1;
	w->prefix = strdup(prefix);
	const char *base = jp_basename(prefix);
	int n = snprintf(w->part, sizeof w->part, "%s.%d.", base, target->ns_pid);
	w->anywhere = !*base;
	w->dir = w->prefix ? open_watched(target, prefix) : -1;
	if (n < 0 || (size_t)n >= sizeof w->part)
		errno = ENAMETOOLONG;
	int rc = !w->prefix ? jp_error_nomem(err) : 0;
	if (!rc && (w->dir < 0 || (size_t)n >= sizeof w->part))
		rc = cannot_list(w, prefix, err);
	if (!rc)
		start_inotify(w);
	rc = rc ? rc : note_all(w, prefix, err);
	if (rc) {
		jprof_dump_watch_free(w);
		return rc;
	}
	*out = w;
	return 0;
}

static ssize_t read_at(int fd, void *to, size_t len, off_t at)
{
	ssize_t n;
	do
		n = pread(fd, to, len, at);
	while (n < 0 && errno == EINTR);
	return n;
}

/* Whether a dump of jemalloc has its last part, and the last line of that its end. The maps may be longer than what
 * is looked at: then a line of theirs has to do. */
static bool ends_well(const struct jprof_dump_file *file)
{
	char *tail = malloc(tail_bytes + 1);
	off_t size = file->st.st_size, at = size > tail_bytes ? size - tail_bytes : 0;
	ssize_t n = tail ? read_at(file->fd, tail, tail_bytes, at) : -1;
	bool good = n > 0 && at + n == size && tail[n - 1] == '\n';
	if (good) {
		tail[n] = '\0';
		good = strstr(tail, "\nMAPPED_LIBRARIES:") || strstr(tail, "[vsyscall]") || strstr(tail, "[vdso]");
	}
	free(tail);
	return good;
}

/* Whether the agent made it because of a signal; one without a readable side-car is taken. */
static bool is_of_signal(const struct jprof_dump_watch *w, const struct jprof_dump_file *file)
{
	struct jprof_dump_file *sidecar = NULL;
	if (jp_dump_file_beside(w->target, file, ".json", &sidecar, NULL))
		return true;
	bool is_it = jp_sidecar_is_of_signal(sidecar);
	jprof_dump_file_free(sidecar);
	return is_it;
}

/* Opens the file if it is the dump. The agent's others, made for other reasons, are not looked at again. */
static struct jprof_dump_file *open_if_wanted(struct jprof_dump_watch *w, struct seen *seen, bool changed)
{
	struct jprof_dump_file *file = NULL;
	char path[PATH_MAX];
	int n = snprintf(path, sizeof path, "%.*s%s", (int)(jp_basename(w->prefix) - w->prefix), w->prefix, seen->name);
	if (!seen->fresh || (size_t)n >= sizeof path || jp_dump_file_open(w->target, path, &file, NULL))
		return NULL;
	bool is_it = w->agent ? is_of_signal(w, file) : !changed && ends_well(file);
	seen->fresh = !is_it && !w->agent;
	if (is_it)
		return file;
	jprof_dump_file_free(file);
	return NULL;
}

/* Looks through the directory: *file is set if the dump is there. 0 or -1: no memory. */
static int look_through(struct jprof_dump_watch *w, struct jprof_dump_file **file)
{
	struct stat st;
	bool changed;
	DIR *jp_cleanup(close_listing) dir = open_listing(w->dir);
	for (struct dirent *e; dir && !*file && (e = readdir(dir));) {
		if (!is_dump_name(w, e->d_name) || fstatat(w->dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW))
			continue;
		struct seen *seen = note(w, e->d_name, &st, &changed);
		if (!seen)
			return -1;
		*file = open_if_wanted(w, seen, changed);
	}
	return 0;
}

int jprof_dump_watch_wait(struct jprof_dump_watch *w, unsigned timeout, struct jprof_dump_file **out,
                          struct jprof_error *err)
{
	if (jp_null(err, w, out))
		return JPROF_E_ARGUMENT;
	int64_t deadline = jp_clock_ms() + timeout;
	for (;;) {
		struct jprof_dump_file *file = NULL;
		if (look_through(w, &file))
			return jp_error_nomem(err);
		if (file) {
			*out = file;
			return 0;
		}
		int rc = jprof_target_check(w->target, err);
		if (rc)
			return rc;
		if (jp_clock_ms() >= deadline)
			return jp_advise(err, JPROF_ADVICE_TIMEOUT,
			                 jp_error(err, JPROF_E_IO, NULL, 0,
			                          "process %d: no dump %s*.heap appeared within %u s of the signal",
			                          w->target->pid, w->part, (timeout + 999) / 1000));
		/* Until something moves in the directory, or a while. A dump that is written in place has to be seen
		 * twice. */
		char events[4096];
		struct pollfd poll_fd = { .fd = w->agent ? w->inotify : -1, .events = POLLIN };
		poll(&poll_fd, 1, look_every_ms);
		while (w->inotify >= 0 && read(w->inotify, events, sizeof events) > 0)
			;
	}
}

void jprof_dump_watch_free(struct jprof_dump_watch *w)
{
	if (!w)
		return;
	jp_file_close(&w->dir);
	jp_file_close(&w->inotify);
	jp_arena_release(&w->arena);
	free(w->prefix);
	free(w->seen);
	free(w);
}
