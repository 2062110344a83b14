#include "serve/heapanswers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/confine.h"

static void close_held(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_making(struct heap_making *m)
{
	for (int i = 0; i < SERVE_KINDS; i++)
		close_held(&m->files[i]);
	close_held(&m->said);
}

static bool open_making(struct heap_making *m, bool fresh, enum serve_kind wanted)
{
	bool good = true;
	m->fresh = fresh;
	m->wanted = wanted;
	for (int i = 0; i < SERVE_KINDS; i++)
		if (i == (int)wanted || (fresh && i <= SERVE_ALLOCS))
			good = (m->files[i] = memfd_create("jprof serve", MFD_CLOEXEC)) >= 0 && good;
	m->said = memfd_create("jprof says", MFD_CLOEXEC);
	if (good && m->said >= 0)
		return true;
	close_making(m);
	return false;
}

/* ---- the child ---------------------------------------------------------------------------------------------- */

/* Moves the descriptors to numbers from 3 on, and closes all others but the first three: no connection of the server's
 * stays open in it. */
static bool keep_files(int *const *files, int count)
{
	enum { above_all = 32 };
	bool good = true;
	for (int i = 0; i < count; i++)
		if (*files[i] >= 0)
			good = (*files[i] = fcntl(*files[i], F_DUPFD, above_all)) >= 0 && good;
	for (int i = 0; i < count; i++)
		if (*files[i] >= 0)
			good = (*files[i] = dup2(*files[i], STDERR_FILENO + 1 + i)) >= 0 && good;
	confine_close_above(STDERR_FILENO + count);
	return good;
}

/* Its messages go to where the server reads them. */
static bool take_files(struct heap_work *w, int said)
{
	int none = open("/dev/null", O_RDWR);
	int *files[SERVE_KINDS + 2] = { &w->first, &w->last };
	for (int i = 0; i < SERVE_KINDS; i++)
		files[2 + i] = &w->files[i];
	return none >= 0 && dup2(none, STDIN_FILENO) >= 0 && dup2(none, STDOUT_FILENO) >= 0 &&
	       dup2(said, STDERR_FILENO) >= 0 && keep_files(files, SERVE_KINDS + 2);
}

static _Noreturn void make_in_child(const struct heap_answers *a, pid_t parent)
{
	static const int usual[] = { SIGCHLD, SIGHUP, SIGINT, SIGPIPE, SIGTERM };
	struct heap_work work = { .gc = a->making.gc,
		                  .first = a->first,
		                  .last = a->making.fresh ? -1 : a->files[SERVE_BUNDLE] };
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		signal(usual[i], SIG_DFL);
	sigprocmask(SIG_SETMASK, &a->signals, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	memcpy(work.files, a->making.files, sizeof work.files);
	if (getppid() != parent || !take_files(&work, a->making.said))
		_exit(SERVE_FAILED);
	enum serve_made made = heap_make(a->options, &work);
	fflush(stderr);
	_exit((int)made);
}

static bool start_making(struct heap_answers *a, bool fresh, bool gc, enum serve_kind wanted)
{
	pid_t parent = getpid();
	if (!open_making(&a->making, fresh, wanted))
		return false;
	a->making.gc = gc;
	a->making.begun = jp_clock_ms();
	fflush(NULL);
	a->child = fork();
	if (!a->child)
		make_in_child(a, parent);
	if (a->child < 0) {
		a->child = 0;
		close_making(&a->making);
	}
	return a->child;
}

/* ---- what came of it ------------------------------------------------------------------------------------------ */

/* Its lines, without the program's name, in one. */
static void put_why(struct heap_answers *a, int status)
{
	static const char before[] = "jprof: ";
	size_t len = 0;
	for (const char *line = a->said; *line;) {
		size_t n = strcspn(line, "\n");
		const char *from = strncmp(line, before, sizeof before - 1) ? line : line + sizeof before - 1;
		if (len < sizeof a->why)
			len += (size_t)snprintf(a->why + len, sizeof a->why - len, "%s%.*s", len ? "; " : "",
			                        (int)(line + n - from), from);
		line += n + (line[n] == '\n');
	}
	if (!len && WIFSIGNALED(status))
		snprintf(a->why, sizeof a->why, "what makes profiles was ended by signal %d", WTERMSIG(status));
	else if (!len)
		snprintf(a->why, sizeof a->why, "no profile was made");
}

/* What is said each time is said once. */
static void take_said(struct heap_answers *a)
{
	char said[sizeof a->said];
	ssize_t n = pread(a->making.said, said, sizeof said - 1, 0);
	said[n > 0 ? n : 0] = '\0';
	if (*said && strcmp(said, a->said) != 0)
		fputs(said, stderr);
	memcpy(a->said, said, sizeof said);
}

/* What a dump was made for, and what it gave. */
static void take_dump(struct heap_answers *a, bool good)
{
	int64_t now = jp_clock_ms(), took = now - a->making.begun,
		usual = a->making.begun + (int64_t)a->options->interval_ms;
	a->made = true;
	a->good = good;
	a->gc = a->making.gc;
	a->ended = now;
	a->next = usual > now + took ? usual : now + took;
	for (int i = 0; i < SERVE_KINDS; i++) {
		a->cannot[i] = false;
		close_held(&a->files[i]);
	}
}

static void take_made(struct heap_answers *a, bool good, bool others)
{
	for (int i = 0; good && i < SERVE_KINDS; i++)
		if (a->making.files[i] >= 0) {
			a->files[i] = a->making.files[i];
			a->making.files[i] = -1;
		}
	a->cannot[a->making.wanted] = !good;
	if (others)
		close_held(&a->first);
	if (a->good && a->first < 0)
		a->first = fcntl(a->files[SERVE_BUNDLE], F_DUPFD_CLOEXEC, 0);
	close_making(&a->making);
}

bool heap_answers_reap(struct heap_answers *a)
{
	int status;
	if (!a->child || waitpid(a->child, &status, WNOHANG) != a->child)
		return false;
	bool others = WIFEXITED(status) && WEXITSTATUS(status) == SERVE_OTHERS,
	     good = others || (WIFEXITED(status) && WEXITSTATUS(status) == SERVE_MADE);
	a->child = 0;
	if (a->making.fresh)
		take_dump(a, good);
	take_said(a);
	put_why(a, status);
	take_made(a, good, others);
	return true;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static unsigned seconds_until(int64_t when)
{
	int64_t left = when - jp_clock_ms();
	return left < 0 ? 1 : (unsigned)(left / 1000 + 1);
}

static void answer_in_words(struct http_answer *to, int status, const char *text)
{
	to->status = status;
	snprintf(to->text, sizeof to->text, "%s", text);
}

/* What a page is, by enum http_page. */
static const struct served {
	enum serve_kind kind;
	const char *type, *name;
} served[] = {
	[HTTP_HEAP] = { SERVE_INUSE, "application/octet-stream", "heap.pb.gz" },
	[HTTP_ALLOCS] = { SERVE_ALLOCS, "application/octet-stream", "allocs.pb.gz" },
	[HTTP_METRICS] = { SERVE_METRICS, "text/plain; version=0.0.4; charset=utf-8", NULL },
	[HTTP_PAGE] = { SERVE_PAGE, "text/html; charset=utf-8", NULL },
};

static void answer_with_last(const struct heap_answers *a, const struct served *what, struct http_answer *to)
{
	struct stat st;
	int file = a->files[what->kind];
	bool there = a->good && file >= 0;
	if (!there || fstat(file, &st) || (to->file = fcntl(file, F_DUPFD_CLOEXEC, 0)) < 0) {
		to->retry_after = seconds_until(a->next);
		answer_in_words(to, 503, there ? strerror(errno) : a->why);
		return;
	}
	to->type = what->type;
	to->name = what->name;
	to->len = (size_t)st.st_size;
	to->age = (unsigned)((jp_clock_ms() - a->ended) / 1000);
}

/* A dump after a collection is one for who did not ask for that, too; one that failed would fail again. */
static bool is_answer_for(const struct heap_answers *a, const struct http_request *request)
{
	return a->gc || !request->gc || !a->good;
}

bool heap_answer(void *context, const struct http_request *request, bool waited, struct http_answer *to)
{
	struct heap_answers *a = context;
	const struct served *what = &served[request->page];
	bool last_counts = a->made && (waited || jp_clock_ms() < a->next);
	if (request->page == HTTP_HEALTH) {
		answer_in_words(to, 200, "jprof serve runs");
		return true;
	}
	if (a->child)
		return false;
	if (last_counts && !is_answer_for(a, request)) {
		to->retry_after = seconds_until(a->next);
		answer_in_words(to, 429, "a dump was just made, without gc=1: ask again later");
		return true;
	}
	if (last_counts && (!a->good || a->files[what->kind] >= 0 || a->cannot[what->kind])) {
		answer_with_last(a, what, to);
		return true;
	}
	if (start_making(a, !last_counts, request->gc, what->kind))
		return false;
	to->retry_after = seconds_until(jp_clock_ms() + (int64_t)a->options->interval_ms);
	answer_in_words(to, 503, strerror(errno));
	return true;
}

/* ---- beginning and end -------------------------------------------------------------------------------------- */

void heap_answers_begin(struct heap_answers *a, const struct serve_options *options, const sigset_t *signals)
{
	*a = (struct heap_answers){ .options = options, .signals = *signals, .making.said = -1, .first = -1 };
	for (int i = 0; i < SERVE_KINDS; i++)
		a->files[i] = a->making.files[i] = -1;
}

void heap_answers_end(struct heap_answers *a)
{
	if (a->child)
		kill(a->child, SIGTERM);
	close_making(&a->making);
	for (int i = 0; i < SERVE_KINDS; i++)
		close_held(&a->files[i]);
	close_held(&a->first);
}
