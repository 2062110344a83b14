/* The program with a child that does not find names, but what STUB says: HOW=TEXT,... for questions whose bytes have
 * TEXT in them (paths stand there). The linker puts this in front of jprof_names_answer in the program's own objects,
 * and of the limits, which are small here. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
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
		.bytes = 64 << 20, .seconds = 60, .seconds_for_file = 1, .look_ms = 100, .idle_looks = 30
	};
}

static void spin(void)
{
	for (volatile unsigned i = 0;; i++)
		;
}

/* Until there is none. */
static void take_memory(void)
{
	enum { piece = 1 << 20 };
	for (;;) {
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

/* What a maker of files who has taken the child over would like to do. */
static void do_harm(void)
{
	const char *did = open("/etc/hostname", O_RDONLY) >= 0                 ? "open"
	                  : !access("/etc/hostname", F_OK)                     ? "access"
	                  : open("/tmp", O_RDWR | O_TMPFILE, 0600) >= 0        ? "create"
	                  : socket(AF_INET, SOCK_STREAM, 0) >= 0               ? "socket"
	                  : !kill(getppid(), 0)                                ? "kill"
	                  : fork() >= 0                                        ? "fork"
	                  : !unlink("/nothing-is-called-so") || errno != EPERM ? "unlink"
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
	if (SAID("sleep"))
		(void)!read(3, (char[1]){ 0 }, 1);
	if (SAID("linger"))
		linger();
	if (SAID("end"))
		_exit(0);
	if (SAID("harm"))
		do_harm();
	if (SAID("memory"))
		take_memory();
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
