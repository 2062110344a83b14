#include "cli/namechild.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "jprof.h"

/* ---- what comes and goes ------------------------------------------------------------------------ */

/* Nobody asks any more: this ends. */
static void read_question(int socket, void *to, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = read(socket, (char *)to + at, len - at);
		if (n <= 0 && !(n < 0 && errno == EINTR))
			_exit(0);
		at += n > 0 ? (size_t)n : 0;
	}
}

static void write_answer(int socket, const void *from, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = send(socket, (const char *)from + at, len - at, MSG_NOSIGNAL);
		if (n <= 0 && !(n < 0 && errno == EINTR))
			_exit(0);
		at += n > 0 ? (size_t)n : 0;
	}
}

static void receive_files(int socket, int *files, size_t count)
{
	union {
		char bytes[CMSG_SPACE(namechild_most_fds * sizeof(int))];
		struct cmsghdr header;
	} control;
	char mark;
	struct iovec part = { .iov_base = &mark, .iov_len = 1 };
	struct msghdr message = {
		.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes
	};
	size_t len = count * sizeof *files;
	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
		_exit(0);
	struct cmsghdr *c = CMSG_FIRSTHDR(&message);
	if (!c || c->cmsg_type != SCM_RIGHTS || c->cmsg_len != CMSG_LEN(len))
		_exit(2);
	memcpy(files, CMSG_DATA(c), len);
}

/* ---- answering ---------------------------------------------------------------------------------- */

static int send_answer(void *context, const void *data, size_t len)
{
	const int *socket = context;
	const struct namechild_answer answer = { .len = len };
	write_answer(*socket, &answer, sizeof answer);
	write_answer(*socket, data, len);
	return 0;
}

static int answer_one(const struct namechild_question *q, int *socket)
{
	int *files = calloc(q->file_count + 1, sizeof *files);
	char *data = malloc(q->len + 1);
	int rc = files && data ? 0 : JPROF_E_NOMEM;
	for (size_t i = 0; !rc && i < q->file_count; i += namechild_most_fds)
		receive_files(*socket, files + i,
		              q->file_count - i < namechild_most_fds ? q->file_count - i : namechild_most_fds);
	if (!rc) {
		read_question(*socket, data, q->len);
		const struct jprof_name_question question = { data, q->len, files, q->file_count, 0 };
		rc = jprof_names_answer(&question, send_answer, socket, NULL);
	}
	for (size_t i = 0; files && i < q->file_count; i++)
		close(files[i]);
	free(files);
	free(data);
	return rc;
}

/* Without memory for a question it is not read, and there is no going on. */
static _Noreturn void serve_questions(int socket)
{
	for (;;) {
		struct namechild_question q;
		struct namechild_answer failed = { 0 };
		read_question(socket, &q, sizeof q);
		failed.code = answer_one(&q, &socket);
		if (!failed.code)
			continue;
		write_answer(socket, &failed, sizeof failed);
		_exit(0);
	}
}

/* ---- limits ------------------------------------------------------------------------------------- */

struct namechild_limits namechild_limits(uint64_t left)
{
	const uint64_t usual = 4ULL << 30;
	return (struct namechild_limits){ .bytes = left == UINT64_MAX ? usual : left - left / 4,
		                          .seconds = 3600,
		                          .seconds_for_file = 30,
		                          .look_ms = 1000,
		                          .idle_looks = 60,
		                          .waits = 10 };
}

/* ---- beginning ---------------------------------------------------------------------------------- */

enum { child_socket = 3 };

/* What libraries print when they give up goes to the parent, which reads it when this has ended. */
static bool take_descriptors(int socket, int errors)
{
	int kept = fcntl(socket, F_DUPFD, child_socket + 1), said = fcntl(errors, F_DUPFD, child_socket + 1);
	int nothing = open("/dev/null", O_RDWR);
	bool good = kept >= 0 && said >= 0 && dup2(said, STDERR_FILENO) >= 0 && dup2(kept, child_socket) >= 0;
	for (int fd = 0; fd < STDERR_FILENO; fd++)
		if (dup2(nothing, fd) < 0)
			close(fd);
	confine_close_above(child_socket);
	return good;
}

/* What the user has the program ignore, as nohup does, is ignored here, too. */
static void take_signals(void)
{
	static const int users[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	sigset_t none;
	for (size_t i = 0; i < sizeof users / sizeof *users; i++)
		if (signal(users[i], SIG_DFL) == SIG_IGN)
			signal(users[i], SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXCPU, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

_Noreturn void namechild_run(int socket, int errors, int parent, const struct namechild_limits *limits)
{
	take_signals();
	if (!take_descriptors(socket, errors))
		_exit(2);
	confine_resources(limits->bytes, limits->seconds);
	const struct confine_walls walls = confine_self(parent);
	write_answer(child_socket, &walls, sizeof walls);
	serve_questions(child_socket);
}
