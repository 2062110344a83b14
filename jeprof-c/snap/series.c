#include "snap/series.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/search.h"
#include "cli/say.h"

static const char suffix[] = ".jprof";

/* ---- names ---------------------------------------------------------------------------------------------- */

static bool is_directory(const char *path)
{
	struct stat st;
	size_t len = strlen(path);
	return (len && path[len - 1] == '/') || (!stat(path, &st) && S_ISDIR(st.st_mode));
}

static bool text(char **to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool text(char **to, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	int n = vasprintf(to, fmt, args);
	va_end(args);
	if (n < 0) {
		*to = NULL;
		say("memory is short");
	}
	return n >= 0;
}

static bool begin_by_file(struct series *s, const struct snap_options *o)
{
	const char *slash = strrchr(o->output, '/'), *name = slash ? slash + 1 : o->output;
	size_t len = strlen(name), end = sizeof suffix - 1;
	s->exact = o->count == 1 && !o->keep && !o->most_bytes;
	if (!s->exact && len > end && !strcmp(name + len - end, suffix))
		len -= end;
	return text(&s->dir, "%.*s", slash ? (int)(slash + 1 - o->output) : 2, slash ? o->output : "./") &&
	       text(&s->begin, "%.*s", (int)len, name);
}

static bool begin_by_label(struct series *s, const struct snap_options *o)
{
	const char *dir = o->output ? o->output : ".";
	size_t len = strlen(dir);
	s->by_pid = o->label != NULL;
	if (!text(&s->dir, "%s%s", dir, len && dir[len - 1] == '/' ? "" : "/"))
		return false;
	return o->label ? text(&s->begin, "jprof-%s-", o->label) : text(&s->begin, "jprof-%d", s->pid);
}

bool series_begin(struct series *s, const struct snap_options *o, int pid)
{
	*s = (struct series){ .pid = pid, .numbered = o->count != 1 };
	bool good = o->output && !is_directory(o->output) ? begin_by_file(s, o) : begin_by_label(s, o);
	if (!good)
		series_end(s);
	return good;
}

/* The digits at *p, at most 18; -1: there are none. */
static long long take_digits(const char **p)
{
	long long n = -1;
	for (int i = 0; i < 18 && isdigit((unsigned char)**p); i++, ++*p)
		n = (n < 0 ? 0 : n) * 10 + (**p - '0');
	return n;
}

/* Whether a name is one of the series: its pid (0: it has none), and its number, 1 if it has none. */
static bool parse_name(const struct series *s, const char *name, long long *pid, long long *number)
{
	size_t n = strlen(s->begin);
	if (strncmp(name, s->begin, n))
		return false;
	const char *p = name + n;
	*pid = s->by_pid ? take_digits(&p) : 0;
	*number = 1;
	if (*pid < 0)
		return false;
	if (*p == '.' && isdigit((unsigned char)p[1])) {
		p++;
		*number = take_digits(&p);
	}
	return !strcmp(p, suffix);
}

/* The highest number of this pid's bundles; 0: there is none. */
static long long highest(const struct series *s)
{
	long long most = 0, pid, number;
	DIR *dir = opendir(s->dir);
	for (struct dirent *e; dir && (e = readdir(dir));)
		if (parse_name(s, e->d_name, &pid, &number) && (!s->by_pid || pid == s->pid) && number > most)
			most = number;
	if (dir)
		closedir(dir);
	return most;
}

char *series_next(const struct series *s)
{
	char *path = NULL, pid[16] = "", number[32] = "";
	const char *dir = strcmp(s->dir, "./") ? s->dir : "";
	if (s->exact)
		return text(&path, "%s%s", dir, s->begin) ? path : NULL;
	long long next = highest(s) + 1;
	if (s->by_pid)
		snprintf(pid, sizeof pid, "%d", s->pid);
	if (next > 1 || s->numbered)
		snprintf(number, sizeof number, ".%lld", next);
	return text(&path, "%s%s%s%s%s", dir, s->begin, pid, number, suffix) ? path : NULL;
}

void series_end(struct series *s)
{
	free(s->dir);
	free(s->begin);
	*s = (struct series){ 0 };
}

/* ---- pruning ---------------------------------------------------------------------------------------------- */

struct bundle {
	char *name;
	struct timespec time;
	uint64_t size;
};

struct bundles {
	struct bundle *items;
	size_t count;
};

static int by_age(const void *a, const void *b)
{
	const struct bundle *x = a, *y = b;
	return jp_order_by(x->time.tv_sec, y->time.tv_sec,
	                   jp_order_by(x->time.tv_nsec, y->time.tv_nsec, strcmp(x->name, y->name)));
}

static bool add_bundle(struct bundles *all, const char *name, const struct stat *st)
{
	struct bundle *more = realloc(all->items, (all->count + 1) * sizeof *more);
	if (!more)
		return false;
	all->items = more;
	more[all->count] = (struct bundle){ strdup(name), st->st_mtim, (uint64_t)st->st_size };
	return more[all->count].name && ++all->count;
}

/* All of the series but the newest. */
static void list(const struct series *s, DIR *dir, const char *newest, struct bundles *all)
{
	long long pid, number;
	struct stat st;
	for (struct dirent *e; (e = readdir(dir));)
		if (parse_name(s, e->d_name, &pid, &number) && strcmp(e->d_name, newest) &&
		    !fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
		    !add_bundle(all, e->d_name, &st))
			break;
	if (all->count)
		qsort(all->items, all->count, sizeof *all->items, by_age);
}

static uint64_t sum_of(const struct bundles *all, size_t from)
{
	uint64_t sum = 0;
	for (size_t i = from; i < all->count; i++)
		sum += all->items[i].size;
	return sum;
}

static uint64_t bundle_size(DIR *dir, const char *name)
{
	struct stat st;
	return fstatat(dirfd(dir), name, &st, 0) ? 0 : (uint64_t)st.st_size;
}

void series_prune(const struct series *s, const struct snap_options *o, const char *newest)
{
	const char *slash = strrchr(newest, '/'), *name = slash ? slash + 1 : newest;
	struct bundles all = { 0 };
	DIR *dir = (o->keep || o->most_bytes) && !s->exact ? opendir(s->dir) : NULL;
	if (!dir)
		return;
	list(s, dir, name, &all);
	uint64_t own = bundle_size(dir, name);
	for (size_t i = 0; i < all.count; i++) {
		bool many = o->keep && all.count - i + 1 > o->keep;
		bool much = o->most_bytes && sum_of(&all, i) + own > o->most_bytes;
		if ((many || much) && unlinkat(dirfd(dir), all.items[i].name, 0) && errno != ENOENT)
			say("%s%s: cannot be removed: %s", s->dir, all.items[i].name, strerror(errno));
	}
	closedir(dir);
	for (size_t i = 0; i < all.count; i++)
		free(all.items[i].name);
	free(all.items);
}
