#include "report/picturechild.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/budget.h"
#include "cli/confine.h"
#include "cli/fdwrite.h"
#include "cli/say.h"
#include "report/picture.h"

enum { most_seconds = 24 * 3600 };

/* What the child writes first; the picture's bytes follow. */
struct drawn {
	int rc;
	struct jprof_error err;
	struct dot_picture picture; /* its `data` means nothing */
};

struct drawing {
	const struct jprof_graph *graph;
	const struct dot_opts *opts;
	const char *format;
};

/* ---- in the child ------------------------------------------------------------------------------------------ */

/* Nothing that was printed before is printed here, too: stdio's buffers are empty, and this ends without them. */
static _Noreturn void draw_here(const struct drawing *d, int to, int parent)
{
	uint64_t left = budget_left();
	struct drawn drawn = { .rc = 0 };
	if (signal(SIGINT, SIG_DFL) == SIG_IGN)
		signal(SIGINT, SIG_IGN);
	signal(SIGPIPE, SIG_DFL);
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(2);
	confine_resources(left < UINT64_MAX / 2 ? left : UINT64_MAX / 2, most_seconds);
	errno = 0;
	drawn.rc = picture_draw(d->graph, d->opts, d->format, &drawn.picture, &drawn.err);
	if (!drawn.rc && errno == ENOMEM) /* a library did without what it did not get, such as a letter */
		drawn.rc = fail_as(&drawn.err, JPROF_E_NOMEM, "", "memory is short");
	bool good = !fd_write(to, &drawn, sizeof drawn, true) &&
	            (drawn.rc || !fd_write(to, drawn.picture.data, drawn.picture.len, true));
	_exit(good ? 0 : 2);
}

/* ---- in the program ---------------------------------------------------------------------------------------- */

/* Whether all of it came. */
static bool read_drawn(int fd, void *to, size_t len)
{
	for (size_t at = 0; at < len;) {
		ssize_t n = read(fd, (char *)to + at, len - at);
		if (!n || (n < 0 && errno != EINTR))
			return false;
		at += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* The child's own words, or its picture. False: not all of it came; there is no memory where *err says so. */
static bool take_drawn(int from, struct drawn *drawn, struct jprof_error *err)
{
	if (!read_drawn(from, drawn, sizeof *drawn))
		return false;
	/* Graphviz read names that anybody may have made: what it says may be anything. */
	drawn->picture.data = NULL;
	drawn->picture.remark[sizeof drawn->picture.remark - 1] = '\0';
	drawn->err.path[sizeof drawn->err.path - 1] = drawn->err.text[sizeof drawn->err.text - 1] = '\0';
	if (drawn->rc)
		return true;
	drawn->picture.data = drawn->picture.len < SIZE_MAX ? malloc(drawn->picture.len + 1) : NULL;
	if (!drawn->picture.data) {
		fail_as(err, JPROF_E_NOMEM, "", "memory is short");
		return false;
	}
	drawn->picture.data[drawn->picture.len] = '\0';
	return read_drawn(from, drawn->picture.data, drawn->picture.len);
}

static int tell_end(pid_t pid, struct jprof_error *err)
{
	int status = 0;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (err->code)
		return err->code;
	if (WIFSIGNALED(status) && WTERMSIG(status) != SIGINT)
		return fail_as(err, JPROF_E_UNSUPPORTED, "",
		               "Graphviz crashed (signal %d: %s); where memory is short --nodecount=N draws less",
		               WTERMSIG(status), strsignal(WTERMSIG(status)));
	return fail_as(err, JPROF_E_UNSUPPORTED, "", "%s",
	               WIFSIGNALED(status) ? "it was interrupted" : "Graphviz gave up (is memory short?)");
}

int picture_draw_apart(const struct jprof_graph *graph, const struct dot_opts *opts, const char *format,
                       struct dot_picture *picture, struct jprof_error *err)
{
	const struct drawing d = { graph, opts, format };
	struct drawn drawn = { .rc = 0 };
	int ends[2], parent = getpid();
	*err = (struct jprof_error){ 0 };
	*picture = (struct dot_picture){ 0 };
	if (pipe2(ends, O_CLOEXEC))
		return fail_as(err, JPROF_E_IO, "", "a pipe for it cannot be made: %s", strerror(errno));
	fflush(NULL);
	signal(SIGCHLD, SIG_DFL); /* its end is waited for */
	budget_pause();
	pid_t pid = fork();
	if (!pid)
		draw_here(&d, ends[1], parent);
	int error = errno;
	budget_resume();
	close(ends[1]);
	bool good = pid > 0 && take_drawn(ends[0], &drawn, err);
	close(ends[0]);
	if (pid < 0)
		return fail_as(err, JPROF_E_IO, "", "a process for it cannot be started: %s", strerror(error));
	if (!good) {
		free(drawn.picture.data);
		return tell_end(pid, err);
	}
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	*picture = drawn.picture;
	*err = drawn.err;
	return drawn.rc;
}
