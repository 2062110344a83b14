/* jprof serve --pid=PID | --puma[=PID]: profiles over HTTP, for what collects those of Go programs, and numbers. */
#include <stdio.h>

#include "cli/say.h"
#include "commands.h"
#include "jprof-live.h"
#include "serve/heapanswers.h"
#include "serve/serveopts.h"
#include "snap/selection.h"
#include "snap/services.h"

/* ---- signals ------------------------------------------------------------------------------------------------- */

static volatile sig_atomic_t serve_ends;

static void on_serve_signal(int signal)
{
	serve_ends = serve_ends || signal != SIGCHLD;
}

/* They come only while the server waits. *waiting: what is blocked then; *before: what was. */
static void take_serve_signals(sigset_t *waiting, sigset_t *before)
{
	static const int signals[] = { SIGCHLD, SIGHUP, SIGINT, SIGTERM };
	struct sigaction action = { .sa_handler = on_serve_signal }, old;
	sigset_t held;
	sigemptyset(&held);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
		if (signals[i] != SIGCHLD && !sigaction(signals[i], NULL, &old) && old.sa_handler == SIG_IGN)
			continue;
		sigaction(signals[i], &action, NULL);
		sigaddset(&held, signals[i]);
	}
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &held, before);
	*waiting = *before;
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigdelset(waiting, signals[i]);
}

/* ---- what it serves -------------------------------------------------------------------------------------------- */

/* A pid must be there, and a Puma must be one; a Puma may come later. */
static bool can_serve(const struct serve_options *o)
{
	struct jprof_processes *list = selection_find(&o->which);
	bool good = list && services_are_one(list, &o->which);
	const struct jprof_process *p = list && jprof_processes_count(list) ? jprof_processes_at(list, 0) : NULL;
	if (good && o->pid && (!p || p->state != JPROF_PROCESS_ALIVE)) {
		say("process %s: there is none; jprof snap alone lists those that are there", o->pid);
		good = false;
	}
	if (good && o->puma && !p)
		say("no Puma runs here yet; who asks is told so until one does");
	jprof_processes_free(list);
	return good;
}

static void say_open_door(const struct listener *l, const struct serve_options *o)
{
	if (!l->loopback && !l->path)
		say("--listen=%s: whoever reaches this address can read the names of functions and files, and can have "
		    "the process dump every %s",
		    o->listen, o->interval);
}

/* ---- serving ----------------------------------------------------------------------------------------------------- */

static bool print_place(const struct listener *l)
{
	return printf("%s%s\n", l->url, l->path ? "" : "/debug/pprof/heap") > 0 && !fflush(stdout);
}

static bool serve_until_ended(const struct listener *l, const struct serve_options *o)
{
	struct heap_answers answers;
	sigset_t waiting, before;
	take_serve_signals(&waiting, &before);
	heap_answers_begin(&answers, o, &before);
	struct http_server *server = http_server_new(l, heap_answer, &answers);
	if (!server)
		say("memory is short");
	bool good = server && print_place(l);
	while (good && !serve_ends) {
		http_server_step(server, &waiting);
		if (heap_answers_reap(&answers))
			http_server_retry(server);
	}
	heap_answers_end(&answers);
	http_server_free(server);
	return good;
}

int cmd_serve(int argc, char **argv)
{
	struct serve_options o;
	struct listener listener = { .fd = -1 };
	bool good = serve_options_parse(&o, argc, argv);
	if (good && o.help)
		serve_options_help();
	else if (good)
		good = can_serve(&o) && listener_begin(&listener, o.listen);
	if (listener.fd >= 0) {
		say_open_door(&listener, &o);
		good = serve_until_ended(&listener, &o);
		listener_end(&listener);
	}
	serve_options_free(&o);
	return good ? 0 : 1;
}
