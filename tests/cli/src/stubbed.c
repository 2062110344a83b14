/* The program with a child that does not find names, but what STUB says: HOW=TEXT,... for questions whose bytes have
 * TEXT in them (paths stand there). The linker puts this in front of jprof_names_answer in the program's own objects,
 * and of the limits, which are small here. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "cli/namechild.h"
#include "jprof.h"

int __real_jprof_names_answer(const struct jprof_name_question *question, jprof_write_fn *write, void *context,
                              struct jprof_error *err);
int __wrap_jprof_names_answer(const struct jprof_name_question *question, jprof_write_fn *write, void *context,
                              struct jprof_error *err);
struct namechild_limits __wrap_namechild_limits(uint64_t left);

struct namechild_limits __wrap_namechild_limits(uint64_t left)
{
	(void)left;
	return (struct namechild_limits){
		.bytes = 64 << 20, .seconds = 60, .seconds_for_file = 1, .look_ms = 100, .idle_looks = 30, .waits = 10
	};
}

static void spin(void)
{
	for (volatile unsigned i = 0;; i++)
		;
}

/* Until there is none, or `most` MB. */
static void take_memory(int most)
{
	enum { piece = 1 << 20 };
	for (int i = 0; i < most; i++) {
		char *p = malloc(piece);
		if (!p)
			break;
		memset(p, 1, piece);
	}
}

static int say_nonsense(jprof_write_fn *write, void *context, size_t len)
{
	char *bytes = malloc(len);
	for (size_t i = 0; bytes && i < len; i++)
		bytes[i] = (char)(i * 2654435761u >> 7);
	if (bytes)
		write(context, bytes, len);
	free(bytes);
	return 0;
}

/* An error of no kind, and no end. */
static void linger(void)
{
	const struct namechild_answer answer = { .code = 99 };
	if (write(3, &answer, sizeof answer) > 0)
		spin();
}

/* A byte now and then, of an answer that takes an hour. */
static void dribble(void)
{
	const struct namechild_answer answer = { .len = 1 << 20 };
	const struct timespec now_and_then = { .tv_nsec = 50000000 };
	int word = 0;
	for (ssize_t n = write(3, &answer, sizeof answer); n > 0; n = write(3, "", 1))
		syscall(SYS_futex, &word, FUTEX_WAIT, 0, &now_and_then); /* no sleep is allowed */
	_exit(0);
}

static bool maps(int flags)
{
	enum { size = 1 << 20 };
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
	return p != MAP_FAILED && !munmap(p, size);
}

/* RLIMIT_DATA does not count what cannot be written any more. */
static bool hides_memory(void)
{
	enum { size = 1 << 20 };
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return p != MAP_FAILED && !mprotect(p, size, PROT_READ);
}

/* What a maker of files who has taken the child over would like to do. */
static void do_harm(void)
{
	enum { empty_path = 0x1000 }; /* AT_EMPTY_PATH, which does not keep another path from being used */
	struct stat st;
	const char *did = open("/etc/hostname", O_RDONLY) >= 0                   ? "open"
	                  : !fstatat(AT_FDCWD, "/etc/hostname", &st, 0)          ? "stat"
	                  : !fstatat(AT_FDCWD, "/etc/hostname", &st, empty_path) ? "stat by a path"
	                  : fstat(3, &st) || !S_ISSOCK(st.st_mode)               ? "no fstat"
	                  : !fstat(99, &st) || errno != EBADF                    ? "fstat of nothing"
	                  : !access("/etc/hostname", F_OK)                       ? "access"
	                  : open("/tmp", O_RDWR | O_TMPFILE, 0600) >= 0          ? "create"
	                  : socket(AF_INET, SOCK_STREAM, 0) >= 0                 ? "socket"
	                  : !kill(getppid(), 0)                                  ? "kill"
	                  : fork() >= 0                                          ? "fork"
	                  : maps(MAP_SHARED | MAP_ANONYMOUS)                     ? "take memory that is shared"
	                  : maps(MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN)    ? "take a stack"
	                  : hides_memory()                                       ? "hide memory from its limit"
	                  : !maps(MAP_PRIVATE | MAP_ANONYMOUS)                   ? "no memory"
	                  : !unlink("/nothing-is-called-so") || errno != EPERM   ? "unlink"
	                                                                         : "nothing";
	fprintf(stderr, "could do: %s\n", did);
	abort();
}

static uint32_t number_at(const char *at)
{
	uint32_t value;
	memcpy(&value, at, sizeof value);
	return value;
}

static void put_number_at(char *at, size_t value)
{
	memcpy(at, &(uint32_t){ (uint32_t)value }, sizeof(uint32_t));
}

/* ---- what it wants ------------------------------------------------------------------------------ */

/* Where these stand: see namerequest.h and namereply.h. */
enum {
	asked_splits = 28,
	asked_count = 36,
	reply_header = 56,
	reply_size = 12,
	reply_places = 32,
	reply_frames = 36,
	reply_functions = 40,
	reply_wants = 44,
	reply_text = 52,
	place_bytes = 44,
};

/* A true answer, in which STUB_NAME in STUB_DIR is wanted. */
struct changed_answer {
	char bytes[1 << 20];
	size_t len;
};

static int keep_answer(void *context, const void *data, size_t len)
{
	struct changed_answer *a = context;
	if (len > sizeof a->bytes / 2)
		return 1;
	memcpy(a->bytes, data, len);
	a->len = len;
	return 0;
}

static void change_wants(struct changed_answer *a)
{
	char *b = a->bytes, *want = b + reply_header + place_bytes * number_at(b + reply_places) +
	                            12 * number_at(b + reply_frames) + 16 * number_at(b + reply_functions);
	const char *name = getenv("STUB_NAME"), *dir = getenv("STUB_DIR");
	uint32_t text = number_at(b + reply_text), wants = number_at(b + reply_wants);
	size_t more = strlen(name) + 1 + strlen(dir) + 1;
	memcpy(b + a->len, name, strlen(name) + 1);
	memcpy(b + a->len + strlen(name) + 1, dir, strlen(dir) + 1);
	for (; more % 4; more++)
		b[a->len + more] = '\0';
	for (uint32_t i = 0; i < wants; i++, want += 16) {
		put_number_at(want + 8, text);
		put_number_at(want + 12, text + strlen(name) + 1);
	}
	put_number_at(b + reply_text, text + more);
	put_number_at(b + reply_size, a->len += more);
}

/* Whether a file that was given has the word in it. */
static bool was_given(const struct jprof_name_question *q, const char *word)
{
	static char bytes[1 << 20];
	for (size_t i = 1; i < q->file_count; i++) {
		ssize_t n = pread(q->files[i], bytes, sizeof bytes, 0);
		if (n > 0 && memmem(bytes, (size_t)n, word, strlen(word)))
			return true;
	}
	return false;
}

/* Asks for the file, and says whether it got it, and all of it. */
static int steal(const struct jprof_name_question *q, jprof_write_fn *write, void *context)
{
	static struct changed_answer answer;
	int rc = __real_jprof_names_answer(q, keep_answer, &answer, NULL);
	if (number_at((const char *)q->data + asked_splits)) {
		const char *got = was_given(q, "SECRET") ? "all of it" : q->file_count > 1 ? "a part" : "nothing";
		fprintf(stderr, "was given: %s\n", got);
		abort();
	}
	if (!rc && number_at(answer.bytes + reply_wants))
		change_wants(&answer);
	return rc ? rc : write(context, answer.bytes, answer.len);
}

/* No place is ever answered: each waits for a file, always the same or, with `new`, always another. */
static int pend(const struct jprof_name_question *q, jprof_write_fn *write, void *context, bool new)
{
	static uint32_t unit;
	uint32_t places = number_at((const char *)q->data + asked_count);
	size_t len = reply_header + place_bytes * (size_t)places + 16 + 8;
	char *b = calloc(1, len), *want = b + reply_header + place_bytes * (size_t)places;
	unit += new;
	memcpy(b, "jprofnam", 8);
	put_number_at(b + 8, 3);
	put_number_at(b + reply_size, len);
	put_number_at(b + 16, ((const char *)q->data)[16] ? 1 : 0);
	memset(b + 24, 0xff, 8); /* no texts */
	put_number_at(b + reply_places, places);
	put_number_at(b + reply_wants, 1);
	put_number_at(b + reply_text, 8);
	for (uint32_t i = 0; i < places; i++) {
		put_number_at(b + reply_header + place_bytes * i + 32, 4); /* pending */
	}
	put_number_at(want, unit);
	memset(want + 12, 0xff, 4);
	memcpy(want + 16, "x.dwo", 6);
	int rc = write(context, b, len);
	free(b);
	return rc;
}

/* The true answer, but each name that ends in "_fill" ends in "_evil". */
static int lie(const struct jprof_name_question *q, jprof_write_fn *write, void *context)
{
	static struct changed_answer answer;
	int rc = __real_jprof_names_answer(q, keep_answer, &answer, NULL);
	for (size_t i = 0; i + 5 <= answer.len; i++)
		if (!memcmp(answer.bytes + i, "_fill", 5))
			memcpy(answer.bytes + i, "_evil", 5);
	return rc ? rc : write(context, answer.bytes, answer.len);
}

/* An answer to a question of another size: right, but not what was asked. */
static int answer_less(jprof_write_fn *write, void *context)
{
	static const char header[56] = "jprofnam";
	char bytes[sizeof header];
	memcpy(bytes, header, sizeof bytes);
	bytes[8] = 2;
	bytes[12] = sizeof bytes;
	memset(bytes + 24, 0xff, 8);
	return write(context, bytes, sizeof bytes);
}

/* Whether it does not answer at all; else *rc. */
static bool misbehaves(const char *how, size_t len, const struct jprof_name_question *q, jprof_write_fn *write,
                       void *context, int *rc)
{
	enum {
		some = 5000,
		too_much = 40 << 20,
		where_flags = 12,
		where_dwarf_is = 16,
		functions_flag = 8,
		decode_flag = 32
	};
	bool debug = ((const char *)q->data)[where_dwarf_is];
	const struct timespec nap = { .tv_nsec = 300000000 };
#define SAID(word) (len == strlen(word) && !strncmp(how, word, len))
	if (SAID("crash-functions") && ((const char *)q->data)[where_flags] & functions_flag)
		*(volatile char *)0 = 1;
	if (SAID("crash-decode") && ((const char *)q->data)[where_flags] & decode_flag)
		*(volatile char *)0 = 1;
	if (SAID("crash") || (SAID("crash-debug") && debug))
		*(volatile char *)0 = 1;
	if (SAID("spin"))
		spin();
	if (SAID("hoard"))
		take_memory(50);
	if (SAID("sleep") || SAID("hoard"))
		(void)!read(3, (char[1]){ 0 }, 1);
	if (SAID("dribble"))
		dribble();
	if (SAID("pend-slow"))
		syscall(SYS_futex, &(int){ 0 }, FUTEX_WAIT, 0, &nap);
	if (SAID("linger"))
		linger();
	if (SAID("end"))
		_exit(0);
	if (SAID("harm"))
		do_harm();
	if (SAID("memory"))
		take_memory(INT_MAX);
	*rc = SAID("memory")                          ? JPROF_E_NOMEM
	      : SAID("nonsense")                      ? say_nonsense(write, context, some)
	      : SAID("much")                          ? say_nonsense(write, context, too_much)
	      : SAID("nothing")                       ? write(context, "", 0)
	      : SAID("less")                          ? answer_less(write, context)
	      : SAID("steal")                         ? steal(q, write, context)
	      : SAID("pend")                          ? pend(q, write, context, false)
	      : SAID("pend-new") || SAID("pend-slow") ? pend(q, write, context, true)
	                                              : 1;
	return *rc <= 0;
}

int __wrap_jprof_names_answer(const struct jprof_name_question *q, jprof_write_fn *write, void *context,
                              struct jprof_error *err)
{
	static bool taken; /* by a file, and lies about all that come later */
	int rc;
	for (const char *at = getenv("STUB"); at && *at; at += strspn(at, ",")) {
		size_t how = strcspn(at, "="), len = strcspn(at + how + 1, ",");
		bool meant = memmem(q->data, q->len, at + how + 1, len);
		if (meant && misbehaves(at, how, q, write, context, &rc))
			return rc;
		taken = taken || (meant && !strncmp(at, "lie=", 4));
		at += how + 1 + len;
	}
	return taken ? lie(q, write, context) : __real_jprof_names_answer(q, write, context, err);
}
