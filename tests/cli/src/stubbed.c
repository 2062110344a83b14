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
	enum { some = 5000, too_much = 40 << 20, where_dwarf_is = 16 };
	bool debug = ((const char *)q->data)[where_dwarf_is];
#define SAID(word) (len == strlen(word) && !strncmp(how, word, len))
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
	if (SAID("linger"))
		linger();
	if (SAID("end"))
		_exit(0);
	if (SAID("harm"))
		do_harm();
	if (SAID("memory"))
		take_memory(INT_MAX);
	*rc = SAID("memory")     ? JPROF_E_NOMEM
	      : SAID("nonsense") ? say_nonsense(write, context, some)
	      : SAID("much")     ? say_nonsense(write, context, too_much)
	      : SAID("nothing")  ? write(context, "", 0)
	      : SAID("less")     ? answer_less(write, context)
	                         : 1;
	return *rc <= 0;
}

int __wrap_jprof_names_answer(const struct jprof_name_question *q, jprof_write_fn *write, void *context,
                              struct jprof_error *err)
{
	int rc;
	for (const char *at = getenv("STUB"); at && *at; at += strspn(at, ",")) {
		size_t how = strcspn(at, "="), len = strcspn(at + how + 1, ",");
		if (memmem(q->data, q->len, at + how + 1, len) && misbehaves(at, how, q, write, context, &rc))
			return rc;
		at += how + 1 + len;
	}
	return __real_jprof_names_answer(q, write, context, err);
}
