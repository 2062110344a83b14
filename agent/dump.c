#include "dump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "errno_text.h"
#include "handle.h"
#include "jemalloc.h"
#include "place.h"
#include "process.h"
#include "sidecar.h"
#include "text.h"
#include "whole.h"

enum { NO_REPLACE = 1, TRIES = 100 };

static struct dump_history history;
static struct dump_result result;
static struct place place;
static char part[PATH_MAX + 8], sidecar_part[PATH_MAX + 16];

const struct dump_history *dump_history(void)
{
	return &history;
}

void dump_failed(const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	vsnprintf(history.last_error, sizeof history.last_error, fmt, args);
	va_end(args);
	memcpy(result.error, history.last_error, sizeof result.error);
}

void dump_forked(void)
{
	memset(&history, 0, sizeof history);
}

static const char *mend(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT: return "make room there, or point prof_prefix of MALLOC_CONF elsewhere";
	case ENOENT:
	case ENOTDIR: return "make that directory, or point prof_prefix of MALLOC_CONF elsewhere";
	case ENAMETOOLONG: return "shorten prof_prefix of MALLOC_CONF";
	default: return "let this user write there, or point prof_prefix of MALLOC_CONF elsewhere";
	}
}

static bool failed_at(const char *path, int error)
{
	dump_failed("cannot write %s: %s; %s", path, errno_text(error), mend(error));
	return false;
}

/* Makes a file that was not there. Returns 0 or an errno. */
static int create(int slot, const char *path)
{
	handle_lock();
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644), error = fd < 0 ? errno : 0;
	if (!handle_keep(slot, fd) && !error)
		error = EIO;
	handle_unlock();
	return error;
}

static bool set_names(void)
{
	int len = snprintf(result.dump, sizeof result.dump, "%s/%s.%d.%u.j%u.heap", place.dir[1] ? place.dir : "",
	                   place.base, (int)getpid(), result.seq, history.made);
	if (len < 0 || (size_t)len + sizeof ".json.part" > sizeof result.dump)
		return false;
	snprintf(part, sizeof part, "%s.part", result.dump);
	snprintf(result.sidecar, sizeof result.sidecar, "%s.json", result.dump);
	snprintf(sidecar_part, sizeof sidecar_part, "%s.part", result.sidecar);
	return true;
}

/* Locked, lest another agent take it for one that a dead process left; that one may have been faster. Where
 * the file system has no locks, nobody takes it. */
static int create_part(void)
{
	struct stat st;
	int error = create(HANDLE_DUMP, part), fd = handle_fd(HANDLE_DUMP);
	if (error)
		return error;
	bool taken = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	if (!taken && fstat(fd, &st) == 0 && st.st_nlink > 0)
		return 0;
	handle_close(HANDLE_DUMP);
	return EEXIST;
}

static bool begin(void)
{
	int error = place_find(&place);
	if (error)
		return failed_at("a dump", error);
	result.seq = place_next_seq(&place);
	for (int i = 0; i < TRIES; i++, result.seq++) {
		if (!set_names())
			return failed_at(place.dir, ENAMETOOLONG);
		error = access(result.dump, F_OK) == 0 ? EEXIST : create_part();
		if (error != EEXIST)
			break;
	}
	return error ? failed_at(part, error) : true;
}

/* prof.dump gives no reason; the same disk gives it for a few more bytes. */
static int why_not(void)
{
	static const char zeros[4096];
	int fd = handle_fd(HANDLE_DUMP);
	struct stat st;
	if (fstat(fd, &st) != 0 || pwrite(fd, zeros, sizeof zeros, st.st_size) == (ssize_t)sizeof zeros)
		return 0;
	return errno ? errno : ENOSPC;
}

static bool write_dump(void)
{
	uint64_t start = process_clock();
	int error = jemalloc_dump(part), why;
	result.milliseconds = (unsigned)(process_clock() - start);
	if (!error && whole_dump(handle_fd(HANDLE_DUMP)))
		return true;
	errno = 0;
	why = why_not();
	if (why)
		return failed_at(result.dump, why);
	dump_failed("jemalloc did not finish %s%s%s; is profiling on, and /proc mounted?", result.dump,
	            error ? ": " : "", error ? errno_text(error) : "");
	return false;
}

static bool is_there(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0;
}

/* Gives a file its name, if that is free. A kernel, a sandbox or a file system may not have the first ways. */
static bool rename_new(const char *from, const char *to)
{
	if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, NO_REPLACE) == 0)
		return true;
	if (errno != ENOSYS && errno != EINVAL && errno != EPERM)
		return failed_at(to, errno);
	if (link(from, to) == 0) {
		unlink(from);
		return true;
	}
	if (is_there(to))
		return failed_at(to, EEXIST);
	return rename(from, to) == 0 || failed_at(to, errno);
}

static bool write_sidecar(const struct dump_request *request, double began)
{
	struct text text = { 0 };
	int error = create(HANDLE_SIDECAR, sidecar_part);
	if (!error) {
		sidecar_json(request, &result, strrchr(result.dump, '/') + 1, began, &text);
		error = text_write(&text, handle_fd(HANDLE_SIDECAR));
	}
	text_free(&text);
	handle_close(HANDLE_SIDECAR);
	return error ? failed_at(result.sidecar, error) : true;
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_REALTIME, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool finish(const struct dump_request *request)
{
	double began = now();
	bool done = write_dump() && write_sidecar(request, began) && rename_new(sidecar_part, result.sidecar);
	if (done && !rename_new(part, result.dump)) {
		unlink(result.sidecar);
		done = false;
	}
	if (!done) {
		unlink(sidecar_part);
		unlink(part);
	}
	handle_close(HANDLE_DUMP);
	return done;
}

bool dump_make(const struct dump_request *request, const struct dump_result **made)
{
	*made = &result;
	memset(&result, 0, sizeof result);
	if (!begin())
		return false;
	ruby_ask(request->gc, request->timeout, &result.ruby);
	if (!finish(request))
		return false;
	history.made++;
	memcpy(history.last_dump, result.dump, sizeof history.last_dump);
	return true;
}
