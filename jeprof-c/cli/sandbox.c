#include "cli/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "cli/budget.h"
#include "cli/confine.h"
#include "cli/namechild.h"
#include "cli/say.h"

/* Not answered: the code of such an error. It is no damaged file, and nothing that ends all. */
enum { no_answer = JPROF_E_UNSUPPORTED };

enum talk_outcome {
	ANSWERED,
	ENDED,   /* it crashed, or has ended otherwise */
	SLOW,    /* it took more time of the CPU than it may */
	LATE,    /* and by the clock, though it always does something */
	STUCK,   /* it takes none, and does not answer */
	SHORT,   /* it has no memory left */
	LENGTHY, /* the answer is longer than any */
	NO_ROOM, /* there is no memory here */
};

struct name_child {
	pid_t pid;  /* 0: none */
	int socket; /* to it */
	int errors; /* what it says */
	clockid_t clock;
	struct namechild_limits limits;
	bool asked;   /* it had a question before, */
	bool greeted; /* and said what it gave up */
};

static struct {
	struct name_child of_system, of_others;
	char *others; /* whose those are, see describe_makers; NULL: not known */
	struct {
		dev_t dev;
		ino_t ino;
		uint64_t waited; /* for all questions in a row about this object file, in us */
	} last;
	bool said_weak, said_root; /* once each */
} sandbox;

/* ---- a child ------------------------------------------------------------------------------------ */

static bool make_child_ends(int sockets[2], int errors[2])
{
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets))
		return false;
	if (!pipe2(errors, O_CLOEXEC | O_NONBLOCK))
		return true;
	close(sockets[0]);
	close(sockets[1]);
	return false;
}

/* False with errno set. */
static bool begin_child(struct name_child *c)
{
	int sockets[2], errors[2], parent = getpid();
	struct namechild_limits limits = namechild_limits(budget_left());
	if (!make_child_ends(sockets, errors))
		return false;
	fflush(NULL);
	signal(SIGCHLD, SIG_DFL); /* its end is waited for, and its time read until then */
	budget_pause();
	pid_t pid = fork();
	if (!pid)
		namechild_run(sockets[1], errors[1], parent, &limits);
	int error = errno;
	if (pid > 0)
		budget_add_child(pid);
	budget_resume();
	close(sockets[1]);
	close(errors[1]);
	*c = (struct name_child){ .pid = pid, .socket = sockets[0], .errors = errors[0], .limits = limits };
	if (pid > 0 && clock_getcpuclockid(pid, &c->clock))
		c->clock = CLOCK_MONOTONIC;
	if (pid > 0)
		return true;
	close(sockets[0]);
	close(errors[0]);
	*c = (struct name_child){ 0 };
	errno = error;
	return false;
}

/* It has ended. */
static void forget_child(struct name_child *c)
{
	close(c->socket);
	close(c->errors);
	budget_remove_child(c->pid);
	*c = (struct name_child){ 0 };
}

static void end_child(struct name_child *c)
{
	kill(c->pid, SIGKILL);
	while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
		;
	forget_child(c);
}

/* ---- waiting for it ----------------------------------------------------------------------------- */

/* A question under way. */
struct dialogue {
	struct name_child *child;
	uint64_t begun, last; /* its CPU time, in ms */
	uint64_t waited;      /* for it, in us, with what came before about the same object file */
	unsigned idle;        /* looks since it took some */
	unsigned seconds;     /* that it may take */
};

static uint64_t clock_us(clockid_t clock)
{
	struct timespec t = { 0 };
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

static uint64_t child_ms(const struct name_child *c)
{
	return clock_us(c->clock) / 1000;
}

/* poll, whose time counts. No look counts more than it should take: a program that was stopped has not waited. */
static int look_at_child(struct dialogue *d, short events)
{
	struct pollfd p = { .fd = d->child->socket, .events = events };
	uint64_t most = d->child->limits.look_ms * 1000ULL, begun = clock_us(CLOCK_MONOTONIC);
	int n = poll(&p, 1, (int)d->child->limits.look_ms);
	uint64_t took = clock_us(CLOCK_MONOTONIC) - begun;
	d->waited += took < most ? took : most;
	return n;
}

/* Looks are counted, not time: who is stopped, or gets no processor, does not lose any. The clock ends only what would
 * give a byte now and then for ever. */
static enum talk_outcome wait_for_child(struct dialogue *d, short events)
{
	for (;;) {
		int n = look_at_child(d, events);
		if (n < 0 && errno != EINTR)
			return ENDED;
		uint64_t now = child_ms(d->child);
		if (now - d->begun > d->seconds * 1000ULL)
			return SLOW;
		if (d->waited > d->seconds * 1000000ULL * d->child->limits.waits)
			return LATE;
		if (n > 0)
			return ANSWERED;
		d->idle = now == d->last ? d->idle + 1 : 0;
		d->last = now;
		if (d->idle > d->child->limits.idle_looks)
			return STUCK;
	}
}

static enum talk_outcome send_message(struct dialogue *d, struct msghdr *message)
{
	struct iovec *part = message->msg_iov;
	while (part->iov_len) {
		enum talk_outcome outcome = wait_for_child(d, POLLOUT);
		ssize_t n = outcome ? 0 : sendmsg(d->child->socket, message, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (outcome)
			return outcome;
		if (n < 0 && errno != EAGAIN && errno != EINTR)
			return ENDED;
		if (n > 0) {
			part->iov_base = (char *)part->iov_base + n;
			part->iov_len -= (size_t)n;
			message->msg_controllen = 0;
		}
	}
	return ANSWERED;
}

static enum talk_outcome send_bytes(struct dialogue *d, const void *data, size_t len)
{
	struct iovec part = { .iov_base = (void *)data, .iov_len = len };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	return send_message(d, &message);
}

static enum talk_outcome send_files(struct dialogue *d, const int *files, size_t count)
{
	union {
		char bytes[CMSG_SPACE(namechild_most_fds * sizeof(int))];
		struct cmsghdr header;
	} control = { 0 };
	struct iovec part = { .iov_base = (char[]){ 0 }, .iov_len = 1 };
	struct msghdr message = { .msg_iov = &part,
		                  .msg_iovlen = 1,
		                  .msg_control = control.bytes,
		                  .msg_controllen = CMSG_SPACE(count * sizeof *files) };
	control.header = (struct cmsghdr){ .cmsg_level = SOL_SOCKET,
		                           .cmsg_type = SCM_RIGHTS,
		                           .cmsg_len = CMSG_LEN(count * sizeof *files) };
	memcpy(CMSG_DATA(&control.header), files, count * sizeof *files);
	return send_message(d, &message);
}

static enum talk_outcome receive_bytes(struct dialogue *d, void *to, size_t len)
{
	for (size_t at = 0; at < len;) {
		enum talk_outcome outcome = wait_for_child(d, POLLIN);
		ssize_t n = outcome ? 0 : recv(d->child->socket, (char *)to + at, len - at, MSG_DONTWAIT);
		if (outcome)
			return outcome;
		if (!n || (n < 0 && errno != EAGAIN && errno != EINTR))
			return ENDED;
		at += n > 0 ? (size_t)n : 0;
	}
	return ANSWERED;
}

/* ---- a question --------------------------------------------------------------------------------- */

static enum talk_outcome send_question(struct dialogue *d, const struct jprof_name_question *q)
{
	const struct namechild_question head = { .len = q->len, .file_count = q->file_count };
	enum talk_outcome outcome = send_bytes(d, &head, sizeof head);
	for (size_t i = 0; !outcome && i < q->file_count; i += namechild_most_fds)
		outcome = send_files(d, q->files + i,
		                     q->file_count - i < namechild_most_fds ? q->file_count - i : namechild_most_fds);
	return outcome ? outcome : send_bytes(d, q->data, q->len);
}

/* It says so before it has read anything. */
static enum talk_outcome receive_walls(struct dialogue *d)
{
	struct confine_walls walls = { 0 };
	enum talk_outcome outcome = d->child->greeted ? ANSWERED : receive_bytes(d, &walls, sizeof walls);
	if (outcome || d->child->greeted)
		return outcome;
	d->child->greeted = true;
	if (!walls.calls && !walls.files && !sandbox.said_weak)
		say("this kernel has neither seccomp nor landlock: an object file that takes over the process that "
		    "finds its names can do what you can");
	if (!walls.other_user && !sandbox.said_root)
		say("the process that finds names stays root's: it cannot become uid 65534 here");
	sandbox.said_weak = sandbox.said_weak || (!walls.calls && !walls.files);
	sandbox.said_root = sandbox.said_root || !walls.other_user;
	return ANSWERED;
}

/* Longer than any that is right: a frame takes 12 bytes, and names are some 100. */
static uint64_t longest_answer(const struct jprof_name_question *q)
{
	enum { least = 16 << 20, for_place = 16 << 10 };
	return least + (uint64_t)q->places * for_place;
}

/* The memory for it is taken as it comes, not as it is announced. */
static enum talk_outcome receive_answer(struct dialogue *d, const struct jprof_name_question *q, char **answer,
                                        size_t *len)
{
	enum { first = 1 << 20 };
	struct namechild_answer head = { 0 };
	enum talk_outcome outcome = receive_bytes(d, &head, sizeof head);
	if (outcome || head.code)
		return outcome ? outcome : head.code == JPROF_E_NOMEM ? SHORT : ENDED;
	if (head.len > longest_answer(q))
		return LENGTHY;
	for (size_t room = 0; !outcome && *len < head.len;) {
		size_t wanted = !room ? first : 2 * room;
		room = wanted < head.len ? wanted : (size_t)head.len;
		char *more = realloc(*answer, room);
		if (!more)
			return NO_ROOM;
		*answer = more;
		outcome = receive_bytes(d, more + *len, room - *len);
		*len = room;
	}
	return outcome;
}

/* Large files may take longer: 2 MB in a second is slower than any machine. */
static unsigned seconds_for(const struct name_child *c, const struct jprof_name_question *q)
{
	enum { bytes_in_second = 2 << 20 };
	unsigned seconds = c->limits.seconds_for_file;
	struct stat st;
	for (size_t i = 0; i < q->file_count; i++)
		seconds += fstat(q->files[i], &st) ? 0 : (unsigned)(st.st_size / bytes_in_second);
	return seconds;
}

/* For what was asked before about the same object file, which may be asked about in many parts. */
static uint64_t waited_for(const struct jprof_name_question *q)
{
	struct stat st = { 0 };
	if (q->file_count)
		(void)fstat(q->files[0], &st);
	if (st.st_dev != sandbox.last.dev || st.st_ino != sandbox.last.ino)
		sandbox.last.waited = 0;
	sandbox.last.dev = st.st_dev;
	sandbox.last.ino = st.st_ino;
	return sandbox.last.waited;
}

static enum talk_outcome ask_child(struct name_child *c, const struct jprof_name_question *q, char **answer,
                                   size_t *len)
{
	struct dialogue d = { .child = c, .seconds = seconds_for(c, q), .begun = child_ms(c), .waited = waited_for(q) };
	d.last = d.begun;
	c->asked = true;
	enum talk_outcome outcome = send_question(&d, q);
	if (!outcome)
		outcome = receive_walls(&d);
	if (!outcome)
		outcome = receive_answer(&d, q, answer, len);
	sandbox.last.waited = d.waited;
	return outcome;
}

/* ---- what went wrong ---------------------------------------------------------------------------- */

/* The first line that it printed with a letter in it. */
static void read_last_words(const struct name_child *c, char *words, size_t size)
{
	char text[4096];
	ssize_t n = read(c->errors, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	const char *line = text;
	while (*line && !strpbrk(line, "abcdefghijklmnopqrstuvwxyz"))
		line += strlen(line);
	for (const char *end; (end = strchr(line, '\n'));) {
		const char *letter = strpbrk(line, "abcdefghijklmnopqrstuvwxyz");
		if (letter && letter < end)
			break;
		line = end + 1;
	}
	snprintf(words, size, "%.*s", (int)strcspn(line, "\n"), line);
}

/* Whether it ends by itself, now that nobody asks it any more. */
static bool has_ended(const struct name_child *c, int *status)
{
	enum { looks = 200, look_us = 10000 };
	shutdown(c->socket, SHUT_RDWR);
	for (int i = 0; i < looks; i++) {
		pid_t pid = waitpid(c->pid, status, WNOHANG);
		if (pid && !(pid < 0 && errno == EINTR))
			return true;
		nanosleep(&(struct timespec){ .tv_nsec = look_us * 1000L }, NULL);
	}
	return false;
}

static int describe_end(struct name_child *c, struct jprof_error *err)
{
	char words[200];
	int status = 0;
	if (!has_ended(c, &status)) {
		end_child(c);
		return fail_as(err, no_answer, "", "the process that reads it does not answer");
	}
	read_last_words(c, words, sizeof words);
	const char *before = *words ? "; it said: " : "";
	forget_child(c);
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGXCPU)
		return fail_as(err, no_answer, "", "the process that reads it took too much time");
	if (WIFSIGNALED(status))
		return fail_as(err, no_answer, "", "the process that reads it crashed (signal %d%s%s)",
		               WTERMSIG(status), before, words);
	return fail_as(err, no_answer, "", "the process that reads it ended (status %d%s%s)", WEXITSTATUS(status),
	               before, words);
}

static int describe_outcome(struct name_child *c, enum talk_outcome outcome, struct jprof_error *err)
{
	unsigned seconds = c->limits.seconds_for_file, waited = seconds * c->limits.waits;
	unsigned long long megabytes = c->limits.bytes >> 20;
	if (outcome == ENDED)
		return describe_end(c, err);
	end_child(c);
	switch (outcome) {
	case SLOW: return fail_as(err, no_answer, "", "reading it takes too long: more than %u s of CPU time", seconds);
	case LATE: return fail_as(err, no_answer, "", "reading it takes too long: more than %u s", waited);
	case STUCK: return fail_as(err, no_answer, "", "the process that reads it does not answer");
	case SHORT:
		return fail_as(err, no_answer, "", "reading it takes more memory than the %llu MB that are left for it",
		               megabytes);
	case LENGTHY: return fail_as(err, no_answer, "", "the process that reads it answers too much");
	default: return fail_as(err, JPROF_E_NOMEM, "", "memory is short");
	}
}

/* ---- the finder --------------------------------------------------------------------------------- */

/* Whether only root can have put a file of root's there, by where it lies. */
static bool is_of_system(const struct stat *st, const char *path)
{
	static const char *const dirs[] = { "/usr/", "/lib", "/bin/", "/sbin/" };
	bool below = false;
	for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
		below = below || !strncmp(path, dirs[i], strlen(dirs[i]));
	return below && !st->st_uid && !(st->st_mode & (S_IWGRP | S_IWOTH)) && strncmp(path, "/usr/local/", 11);
}

/* Adds "uid device directory" to the lines, unless it is there. */
static void add_maker(struct jp_strbuf *all, const struct stat *st, char *path)
{
	char line[PATH_MAX + 64];
	char *slash = strrchr(path, '/');
	*(slash ? slash : path) = '\0';
	for (char *c = path; *c; c++)
		*c = *c == '\n' ? '/' : *c;
	snprintf(line, sizeof line, "\n%ju %ju %s\n", (uintmax_t)st->st_uid, (uintmax_t)st->st_dev, path);
	if (!all->failed && !strstr(all->text, line))
		jp_strbuf_str(all, line + 1);
}

static const char only_system[] = "\n";

/* Who can have made the files: the owner and the directory of each, but those of the system; each once. Memory to be
 * freed; NULL where it is short. */
static char *describe_makers(const struct jprof_name_question *q)
{
	struct jp_strbuf all = { 0 };
	jp_strbuf_str(&all, only_system);
	for (size_t i = 0; i < q->file_count; i++) {
		char link[32], path[PATH_MAX];
		struct stat st = { 0 };
		snprintf(link, sizeof link, "/proc/self/fd/%d", q->files[i]);
		ssize_t n = readlink(link, path, sizeof path - 1);
		path[n > 0 ? n : 0] = '\0';
		if (fstat(q->files[i], &st) || !is_of_system(&st, path))
			add_maker(&all, &st, path);
	}
	if (all.failed)
		jp_strbuf_release(&all);
	return all.text;
}

/* What took a child over could lie about the files that come later: so there come only files of the same makers. */
static struct name_child *child_for(const struct jprof_name_question *q)
{
	char *makers = describe_makers(q);
	if (makers && !strcmp(makers, only_system)) {
		free(makers);
		return &sandbox.of_system;
	}
	bool same = makers && sandbox.others && !strcmp(makers, sandbox.others);
	if (sandbox.of_others.pid && !same)
		end_child(&sandbox.of_others);
	free(sandbox.others);
	sandbox.others = makers;
	return &sandbox.of_others;
}

/* What fails in a child that had other questions is asked once more in a new one: those may have been to blame. */
static int find_by_child(void *context, const struct jprof_name_question *q, void **answer, size_t *len,
                         struct jprof_error *err)
{
	(void)context;
	struct name_child *c = child_for(q);
	for (;;) {
		char *bytes = NULL;
		*len = 0;
		if (!c->pid && !begin_child(c))
			return fail_as(err, no_answer, "", "no process can be started to read it: %s", strerror(errno));
		bool again = c->asked;
		enum talk_outcome outcome = ask_child(c, q, &bytes, len);
		if (!outcome) {
			*answer = bytes;
			return 0;
		}
		free(bytes);
		int rc = describe_outcome(c, outcome, err);
		if (!again || outcome == SLOW || outcome == LATE || outcome == STUCK || outcome == NO_ROOM)
			return rc;
	}
}

const struct jprof_name_finder *sandbox_finder(bool off)
{
	static const struct jprof_name_finder finder = { .find = find_by_child };
	return off ? NULL : &finder;
}

void sandbox_end(void)
{
	if (sandbox.of_system.pid)
		end_child(&sandbox.of_system);
	if (sandbox.of_others.pid)
		end_child(&sandbox.of_others);
	free(sandbox.others);
	sandbox.others = NULL;
	sandbox.last.waited = 0;
}
