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

#include "cli/budget.h"
#include "cli/confine.h"
#include "cli/fdwrite.h"
#include "cli/sandbox.h"
#include "cli/say.h"
#include "report/load.h"
#include "serve/serveopts.h"
#include "snap/memsnap.h"

static int write_profile(void *context, const void *data, size_t len)
{
	const int *fd = context;
	return fd_write(*fd, data, len, true);
}

static bool render_heap(const struct loaded *loaded, const struct serve_options *o, enum jprof_counter counter, int fd)
{
	struct options report = o->report;
	struct jprof_error err;
	report.counter = counter;
	struct jprof_view *view = load_view(loaded, &report);
	if (!view)
		return false;
	const struct jprof_report_opts opts = options_report(&report);
	int rc = jprof_render(view, report.output, &opts, write_profile, &fd, &err);
	if (rc)
		say_error(&err);
	jprof_view_free(view);
	return !rc;
}

static bool render_both(const struct memsnap *snap, const struct serve_options *o, int heap, int allocs)
{
	static char name[] = "snapshot";
	char *dumps[] = { name };
	const struct live_input live = { .name = name, .data = snap->bundle, .len = snap->len };
	struct inputs inputs = { .dumps = dumps, .dump_count = 1, .live = &live, .live_count = 1 };
	struct loaded loaded;
	if (!load_profile(&loaded, &inputs, &o->report))
		return false;
	bool good =
	    render_heap(&loaded, o, JPROF_INUSE_SPACE, heap) && render_heap(&loaded, o, JPROF_ALLOC_SPACE, allocs);
	loaded_free(&loaded);
	return good;
}

/* Writes profile.proto into the descriptors: `heap`, which shows first what is in use, and `allocs`, which shows first
 * what was ever allocated. False after having said why there is none. */
static bool heap_make(const struct serve_options *o, bool gc, int heap, int allocs)
{
	struct snap_options which = o->which;
	struct memsnap snap = { 0 };
	which.gc = gc;
	if (!budget_watch(o->report.max_memory))
		return false;
	bool good = memsnap_take(&snap, &which);
	if (good && !snap.dumped) {
		if (*snap.why)
			say("%s", snap.why);
		good = false;
	}
	good = good && render_both(&snap, o, heap, allocs);
	memsnap_free(&snap);
	sandbox_end();
	return good;
}

static void close_held(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void close_making(struct heap_making *m)
{
	for (int i = 0; i < heap_kinds; i++)
		close_held(&m->files[i]);
	close_held(&m->said);
}

static bool open_making(struct heap_making *m)
{
	m->files[0] = memfd_create("jprof heap", MFD_CLOEXEC);
	m->files[1] = memfd_create("jprof allocs", MFD_CLOEXEC);
	m->said = memfd_create("jprof says", MFD_CLOEXEC);
	if (m->files[0] >= 0 && m->files[1] >= 0 && m->said >= 0)
		return true;
	close_making(m);
	return false;
}

/* ---- the child ---------------------------------------------------------------------------------------------- */

/* It has its files as numbers 3 and 4, its messages go to where the server reads them, and no connection of the
 * server's stays open in it. */
static bool take_files(const struct heap_making *m)
{
	enum { above_all = 16 };
	int said = fcntl(m->said, F_DUPFD, above_all);
	int heap = fcntl(m->files[0], F_DUPFD, above_all), allocs = fcntl(m->files[1], F_DUPFD, above_all);
	int none = open("/dev/null", O_RDWR);
	bool good = said >= 0 && none >= 0 && dup2(none, STDIN_FILENO) >= 0 && dup2(none, STDOUT_FILENO) >= 0 &&
	            dup2(said, STDERR_FILENO) >= 0 && dup2(heap, STDERR_FILENO + 1) >= 0 &&
	            dup2(allocs, STDERR_FILENO + 2) >= 0;
	confine_close_above(STDERR_FILENO + 2);
	return good;
}

static _Noreturn void make_in_child(const struct heap_answers *a, pid_t parent)
{
	static const int usual[] = { SIGCHLD, SIGHUP, SIGINT, SIGPIPE, SIGTERM };
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		signal(usual[i], SIG_DFL);
	sigprocmask(SIG_SETMASK, &a->signals, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || !take_files(&a->making))
		_exit(1);
	bool good = heap_make(a->options, a->making.gc, STDERR_FILENO + 1, STDERR_FILENO + 2);
	fflush(stderr);
	_exit(good ? 0 : 1);
}

static bool start_making(struct heap_answers *a, bool gc)
{
	pid_t parent = getpid();
	if (!open_making(&a->making))
		return false;
	a->making.gc = gc;
	a->making.begun = http_clock();
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

bool heap_answers_reap(struct heap_answers *a)
{
	int status;
	if (!a->child || waitpid(a->child, &status, WNOHANG) != a->child)
		return false;
	int64_t now = http_clock(), took = now - a->making.begun,
		usual = a->making.begun + (int64_t)a->options->interval_ms;
	a->child = 0;
	a->made = true;
	a->good = WIFEXITED(status) && !WEXITSTATUS(status);
	a->gc = a->making.gc;
	a->ended = now;
	a->next = usual > now + took ? usual : now + took;
	take_said(a);
	put_why(a, status);
	for (int i = 0; i < heap_kinds; i++) {
		close_held(&a->files[i]);
		a->files[i] = a->making.files[i];
		a->making.files[i] = -1;
	}
	close_making(&a->making);
	return true;
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

static unsigned seconds_until(int64_t when)
{
	int64_t left = when - http_clock();
	return left < 0 ? 1 : (unsigned)(left / 1000 + 1);
}

static void answer_in_words(struct http_answer *to, int status, const char *text)
{
	to->status = status;
	snprintf(to->text, sizeof to->text, "%s", text);
}

static void answer_with_last(const struct heap_answers *a, const struct http_request *request, struct http_answer *to)
{
	struct stat st;
	int file = a->files[request->page == HTTP_ALLOCS];
	if (!a->good || fstat(file, &st) || (to->file = fcntl(file, F_DUPFD_CLOEXEC, 0)) < 0) {
		to->retry_after = seconds_until(a->next);
		answer_in_words(to, 503, a->good ? strerror(errno) : a->why);
		return;
	}
	to->name = request->page == HTTP_ALLOCS ? "allocs.pb.gz" : "heap.pb.gz";
	to->len = (size_t)st.st_size;
	to->age = (unsigned)((http_clock() - a->ended) / 1000);
}

/* A dump after a collection is one for who did not ask for that, too; one that failed would fail again. */
static bool is_answer_for(const struct heap_answers *a, const struct http_request *request)
{
	return a->gc || !request->gc || !a->good;
}

bool heap_answer(void *context, const struct http_request *request, bool waited, struct http_answer *to)
{
	struct heap_answers *a = context;
	bool last_counts = a->made && (waited || http_clock() < a->next);
	if (request->page == HTTP_HEALTH) {
		answer_in_words(to, 200, "jprof serve runs");
		return true;
	}
	if (a->child)
		return false;
	if (last_counts && is_answer_for(a, request)) {
		answer_with_last(a, request, to);
		return true;
	}
	if (last_counts) {
		to->retry_after = seconds_until(a->next);
		answer_in_words(to, 429, "a dump was just made, without gc=1: ask again later");
		return true;
	}
	if (start_making(a, request->gc))
		return false;
	to->retry_after = seconds_until(http_clock() + (int64_t)a->options->interval_ms);
	answer_in_words(to, 503, strerror(errno));
	return true;
}

/* ---- beginning and end -------------------------------------------------------------------------------------- */

void heap_answers_begin(struct heap_answers *a, const struct serve_options *options, const sigset_t *signals)
{
	*a = (struct heap_answers){ .options = options, .signals = *signals, .making.said = -1 };
	for (int i = 0; i < heap_kinds; i++)
		a->files[i] = a->making.files[i] = -1;
}

void heap_answers_end(struct heap_answers *a)
{
	if (a->child)
		kill(a->child, SIGTERM);
	close_making(&a->making);
	for (int i = 0; i < heap_kinds; i++)
		close_held(&a->files[i]);
}
