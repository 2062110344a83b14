#include "dump.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
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
#include "memdump.h"
#include "memory.h"
#include "place.h"
#include "ruby/dumptable.h"
#include "ruby/graphchild.h"
#include "self.h"
#include "sidecar.h"
#include "textbuf.h"
#include "thread.h"
#include "whole.h"

/* ROOM_MB: jemalloc's buffers, the side-car, the table of Ruby's stacks and what a collection copies take memory, and
 * the program takes some meanwhile. */
enum { NO_REPLACE = 1, TRIES = 100, OWNER_ALONE = 0600, ROOM_MB = 6 };

static unsigned mode = OWNER_ALONE;
static struct dump_history history;
static struct dump_result result;
static struct dump_place place;
static unsigned next_seq; /* of a dump that makes no file */
static atomic_bool is_written;
static char part[PATH_MAX + 8], sidecar_part[PATH_MAX + 16], table_part[PATH_MAX + 16];
static struct dumptable_bounds bounds;
static struct textbuf table; /* of the dump that is made; empty: there is none */

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
	next_seq = 0;
	atomic_store(&is_written, false);
	memdump_forked();
}

static const char *error_advice(int error)
{
	switch (error) {
	case ENOSPC:
	case EDQUOT: return "make room there, or point prof_prefix of MALLOC_CONF elsewhere";
	case ENOENT:
	case ENOTDIR: return "make that directory, or point prof_prefix of MALLOC_CONF elsewhere";
	case EFBIG: return "raise ulimit -f";
	case EMFILE: return "it has no descriptors left: raise ulimit -n";
	case ENAMETOOLONG: return "shorten prof_prefix of MALLOC_CONF";
	default: return "let this user write there, or point prof_prefix of MALLOC_CONF elsewhere";
	}
}

static bool failed_at(const char *path, int error)
{
	dump_failed("cannot write %s: %s; %s", path, errno_text(error), error_advice(error));
	return false;
}

void dump_init(unsigned files_mode)
{
	mode = files_mode;
}

/* Makes a file that was not there. Returns 0 or an errno. */
static int create_file(int slot, const char *path)
{
	int fd = handle_open(slot, path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW);
	if (fd < 0)
		return errno;
	if (mode != OWNER_ALONE)
		fchmod(fd, mode);
	return 0;
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
	snprintf(table_part, sizeof table_part, "%s.ruby.part", result.dump);
	return true;
}

/* Locked, lest another agent take it for one that a dead process left; that one may have been faster. Where
 * the file system has no locks, nobody takes it. */
static int create_part(void)
{
	struct stat st;
	int error = create_file(HANDLE_PART, part), fd = handle_fd(HANDLE_PART);
	if (error)
		return error;
	bool taken = flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
	if (!taken && fstat(fd, &st) == 0 && st.st_nlink > 0)
		return 0;
	handle_close(HANDLE_PART);
	return EEXIST;
}

/* Makes the file of the dump, unless it is there. */
static bool begin_dump(void)
{
	if (handle_fd(HANDLE_PART) >= 0)
		return true;
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

/* prof.dump gives no reason; the next file, and the same disk for a few more bytes, give it. */
static int why_not(void)
{
	static const char zeros[4096];
	if (handle_open(HANDLE_BRIEF, "/proc/self/maps", O_RDONLY) < 0 && errno == EMFILE)
		return EMFILE;
	handle_close(HANDLE_BRIEF);
	errno = 0;
	int fd = handle_fd(HANDLE_PART);
	struct stat st;
	if (fstat(fd, &st) != 0 || pwrite(fd, zeros, sizeof zeros, st.st_size) == (ssize_t)sizeof zeros)
		return 0;
	return errno ? errno : ENOSPC;
}

static bool write_directly(void)
{
	int error = jemalloc_dump(part), why;
	if (!error && whole_dump(handle_fd(HANDLE_PART))) {
		memdump_note_size(handle_fd(HANDLE_PART));
		return true;
	}
	errno = 0;
	why = why_not();
	if (why)
		return failed_at(result.dump, why);
	dump_failed("jemalloc did not finish %s%s%s; is profiling on, and /proc mounted?", result.dump,
	            error ? ": " : "", error ? errno_text(error) : "");
	return false;
}

static bool set_direct(const char *why)
{
	snprintf(result.direct, sizeof result.direct, "%s", why ? why : "");
	return !why;
}

/* Has jemalloc write, in memory if that may be; then HANDLE_DUMP has it. */
static bool write_in_memory(void)
{
	bool in_memory = set_direct(memdump_write(HANDLE_DUMP));
	if (!in_memory)
		handle_close(HANDLE_DUMP);
	return in_memory;
}

static bool copy_to_file(void)
{
	int error = memdump_copy(HANDLE_DUMP, handle_fd(HANDLE_PART));
	return error ? failed_at(result.dump, error) : true;
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

/* Into HANDLE_SIDECAR. Returns 0 or an errno. */
static int fill_sidecar(const struct dump_request *request, double began)
{
	struct textbuf text = { 0 };
	const char *slash = strrchr(result.dump, '/');
	sidecar_json(request, &result, slash ? slash + 1 : result.dump, began, &text);
	int error = textbuf_write(&text, handle_fd(HANDLE_SIDECAR));
	textbuf_free(&text);
	return error;
}

static bool write_sidecar(const struct dump_request *request, double began)
{
	int error = create_file(HANDLE_SIDECAR, sidecar_part);
	if (!error)
		error = fill_sidecar(request, began);
	handle_close(HANDLE_SIDECAR);
	return error ? failed_at(result.sidecar, error) : true;
}

/* The dump is in this file. Where memory is short, there is no table. */
static void make_table(int slot)
{
	if (dumptable_is_on() && !dumptable_make(handle_fd(slot), &bounds, &table))
		textbuf_free(&table);
	if (table.len)
		snprintf(result.table, sizeof result.table, "%s.ruby", result.dump);
}

static bool write_table(void)
{
	if (!table.len)
		return true;
	int error = create_file(HANDLE_TABLE, table_part);
	if (!error)
		error = textbuf_write(&table, handle_fd(HANDLE_TABLE));
	handle_close(HANDLE_TABLE);
	return error ? failed_at(result.table, error) : true;
}

static double seconds_now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_REALTIME, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static bool name_table(void)
{
	return !table.len || rename_new(table_part, result.table);
}

/* Gives the files their names, the dump last, or takes them all away. */
static bool finish_files(const struct dump_request *request, bool written, double began)
{
	if (written)
		make_table(HANDLE_PART);
	bool done = written && write_table() && write_sidecar(request, began);
	bool has_sidecar = done && rename_new(sidecar_part, result.sidecar), has_table = has_sidecar && name_table();
	done = has_table && rename_new(part, result.dump);
	if (!done && has_sidecar)
		unlink(result.sidecar);
	if (!done && has_table)
		unlink(result.table);
	if (!done) {
		unlink(table_part);
		unlink(sidecar_part);
		unlink(part);
	}
	handle_close(HANDLE_PART);
	return done;
}

/* The names that the files would have; no directory is looked into. */
static void name_memory(void)
{
	place_find(&place);
	result.seq = next_seq;
	snprintf(result.dump, sizeof result.dump, "%s.%d.%u.j%u.heap", place.base, (int)getpid(), result.seq,
	         history.made);
	snprintf(result.sidecar, sizeof result.sidecar, "%s.json", result.dump);
}

/* Makes the third file, if that is wanted, and there is a table. Returns NULL, or why not. */
static const char *hand_over_table(bool is_wanted)
{
	make_table(HANDLE_DUMP);
	if (!is_wanted || !table.len) {
		result.table[0] = 0;
		return NULL;
	}
	const char *why = memdump_open(HANDLE_TABLE);
	int error = why ? 0 : textbuf_write(&table, handle_fd(HANDLE_TABLE));
	if (why || error)
		return why ? why : errno_text(error);
	return memdump_seal(HANDLE_TABLE) ? NULL : "no seals here";
}

/* Makes what is handed over of the dump in memory. */
static bool make_memory(const struct dump_request *request, double began)
{
	name_memory();
	const char *why = memdump_open(HANDLE_SIDECAR);
	if (!why)
		why = hand_over_table(request->table);
	int error = why ? 0 : fill_sidecar(request, began);
	if (!why && !error && memdump_seal(HANDLE_DUMP) && memdump_seal(HANDLE_SIDECAR)) {
		result.fds = *result.table ? 3 : 2;
		return true;
	}
	handle_close(HANDLE_SIDECAR);
	handle_close(HANDLE_TABLE);
	textbuf_free(&table);
	set_direct(why ? why : error ? errno_text(error) : "no seals here");
	return false;
}

static void close_dump(void)
{
	handle_close(HANDLE_DUMP);
	handle_close(HANDLE_SIDECAR);
	handle_close(HANDLE_TABLE);
}

/* The child that writes into the pipe ends with it. */
void dump_close(void)
{
	close_dump();
	handle_close(HANDLE_GRAPH_READ);
}

bool dump_is_written(void)
{
	return atomic_load(&is_written);
}

bool dump_hands_over(void)
{
	bool can = access("/proc/thread-self/fd", X_OK) == 0 && !memdump_open(HANDLE_BRIEF);
	handle_close(HANDLE_BRIEF);
	return can;
}

static bool timed(bool (*write)(void))
{
	uint64_t start = self_clock();
	dumptable_begin(&bounds);
	bounds.slots = result.ruby.slots;
	atomic_store(&is_written, true);
	bool written = write();
	atomic_store(&is_written, false);
	dumptable_end(&bounds);
	result.milliseconds = (unsigned)(self_clock() - start);
	return written;
}

static void ask_ruby(const struct dump_request *request)
{
	const char *why = request->graph ? graphchild_prepare() : "";
	ruby_ask(request->gc, request->objects, request->timeout, &result.ruby);
	if (!why)
		why = graphchild_settle();
	result.graph = !why;
	snprintf(result.graph_why, sizeof result.graph_why, "%s", why ? why : "");
}

/* What is to be a file is begun first, so that nobody waits for Ruby in vain; what is handed over becomes a file only
 * where memory is not to be had. */
static bool write_dump(const struct dump_request *request)
{
	bool in_memory = set_direct(memdump_refusal()) && set_direct(memdump_open(HANDLE_DUMP));
	if (!(request->fds && in_memory) && !begin_dump())
		return false;
	ask_ruby(request);
	double began = seconds_now();
	bool written = in_memory && timed(write_in_memory);
	if (written && request->fds && make_memory(request, began))
		return true;
	if (!begin_dump())
		return false;
	return finish_files(request, written ? copy_to_file() : timed(write_directly), began);
}

bool dump_make(const struct dump_request *request, const struct dump_result **made)
{
	const char *refusal = request->at_exit ? NULL : thread_refusal();
	refusal = refusal ? refusal : memory_refusal(ROOM_MB);
	*made = &result;
	memset(&result, 0, sizeof result);
	if (refusal)
		dump_failed("%s", refusal);
	bool done = !refusal && write_dump(request);
	textbuf_free(&table);
	if (!result.fds)
		close_dump();
	if (!done) {
		dump_close();
		return false;
	}
	history.made++;
	*history.last_error = 0;
	next_seq = result.seq + 1;
	memcpy(history.last_dump, result.dump, sizeof history.last_dump);
	return true;
}
