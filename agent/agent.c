/* The agent's life: at load, at fork, at exit, and its thread. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "announce.h"
#include "config.h"
#include "dump.h"
#include "epoch.h"
#include "errno_text.h"
#include "handle.h"
#include "jemalloc.h"
#include "leave.h"
#include "memory.h"
#include "otherdump.h"
#include "place.h"
#include "request.h"
#include "ruby/dumptable.h"
#include "ruby/graphchild.h"
#include "ruby/newobj.h"
#include "ruby/ruby.h"
#include "ruby/ruby_job.h"
#include "ruby/ruby_stacks.h"
#include "ruby/sample.h"
#include "ruby/slots.h"
#include "ruby/stacktree.h"
#include "self.h"
#include "server.h"
#include "synthetic.h"
#include "textbuf.h"
#include "thread.h"
#include "trigger.h"
#include "trouble.h"
#include "wake.h"

enum { DELAY_MS = 100, ADDRESSES_MIN = 512 << 20 /* of which 21 MiB are taken for samples */ };

static struct config config;
static int our_signal;
static pid_t owner; /* the process that has a thread of its own */

static void dump_now(const struct dump_request *request)
{
	const struct dump_result *result;
	dump_make(request, &result);
}

static void open_channels(void)
{
	const char *socket = config.socket ? server_open() : "";
	int error = announce(our_signal, socket);
	if (error) { /* nobody finds the socket, whose descriptor may be the last one */
		server_unlink();
		handle_close(HANDLE_LISTEN);
		trouble_report(TROUBLE_ANNOUNCE, error);
	} else if (config.socket && !*socket) {
		trouble_report(TROUBLE_SOCKET, server_error());
	} else {
		trouble_report(TROUBLE_NONE, 0);
	}
}

/* What a program closed that was not its own, or what could not be opened before. */
static void reopen_lost(void)
{
	if (wake_lost())
		wake_open();
	if (config.socket && handle_fd(HANDLE_LISTEN) < 0)
		open_channels();
}

static int sooner(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

/* -1 without a trigger and a crowd. */
static int timeout(void)
{
	if (wake_asked())
		return 0;
	return sooner(sooner(trigger_timeout(), server_timeout()), graphchild_timeout());
}

/* poll() takes no more entries than the process may have descriptors, and would fail at once for ever. */
static void poll_open(struct pollfd *polls, nfds_t count, int milliseconds)
{
	struct pollfd open[1 + SERVER_POLLS];
	nfds_t opened = 0;
	for (nfds_t i = 0; i < count; i++)
		if (polls[i].fd >= 0)
			open[opened++] = polls[i];
	if (poll(open, opened, milliseconds) < 0 && errno == EINVAL)
		usleep(DELAY_MS * 1000);
	opened = 0;
	for (nfds_t i = 0; i < count; i++)
		polls[i].revents = polls[i].fd >= 0 ? open[opened++].revents : 0;
}

static void wait_once(void)
{
	struct pollfd polls[1 + SERVER_POLLS] = { { .fd = handle_fd(HANDLE_WAKE_READ), .events = POLLIN } };
	server_polls(polls + 1);
	poll_open(polls, 1 + SERVER_POLLS, timeout());
	leave_serve();
	if (wake_drain())
		dump_now(&(struct dump_request){ .reason = "signal", .timeout = DUMP_RUBY_MS });
	server_serve(polls + 1);
	trigger_run();
	graphchild_tend();
	ruby_job_tidy();
	reopen_lost();
	leave_served();
}

/* What ends at once never gets a socket: it would cost, and a child leave it behind. Only a signal cannot wait. */
static void start_slowly(void)
{
	uint64_t end = self_clock() + DELAY_MS, now;
	while (!wake_asked() && (now = self_clock()) < end) {
		struct pollfd woken = { .fd = handle_fd(HANDLE_WAKE_READ), .events = POLLIN };
		poll(&woken, 1, (int)(end - now));
		wake_empty();
	}
}

static void *agent_run(void *unused)
{
	pthread_setname_np(pthread_self(), "jprof-agent");
	if (!thread_has_room()) {
		trouble_report(TROUBLE_STACK, 0);
		return unused;
	}
	start_slowly();
	if (thread_refusal()) {
		trouble_report(TROUBLE_MEMORY, ENOMEM);
		return unused;
	}
	announce_check(config.socket);
	if (!ruby_present()) /* whose signal handler, when ruby_wake() raises, writes to descriptors of Ruby's */
		wake_part();
	leave_serve();
	self_read();
	trigger_start(&config);
	open_channels();
	ruby_job_tidy();
	leave_served();
	for (;;)
		wait_once();
	return unused;
}

static bool start_agent(void)
{
	int error = 0;
	owner = 0;
	if (!wake_open())
		trouble_report(TROUBLE_PIPE, errno);
	else if ((error = thread_start(agent_run)) != 0)
		trouble_report(TROUBLE_THREAD, error);
	else
		owner = getpid();
	return owner != 0;
}

/* In a child that went on with Ruby. */
static void start_late(void)
{
	if (owner != getpid())
		start_agent();
}

static void before_fork(void)
{
	handle_lock();
	stacktree_fork();
	slots_fork();
}

static void after_fork_parent(void)
{
	slots_forked_parent();
	stacktree_forked_parent();
	handle_unlock();
}

static void after_fork_child(void)
{
	int error = errno;
	slots_forked_child();
	stacktree_forked_child();
	dumptable_forked();
	epoch_forked();
	handle_forked();
	leave_forked();
	announce_forked();
	trouble_forked();
	server_forked();
	dump_forked();
	graphchild_forked();
	wake_forked();
	bool later = ruby_forked(start_late);
	if (owner && !later)
		start_agent();
	errno = error;
}

/* On a thread of the program's, which a file that grows beyond RLIMIT_FSIZE would kill by SIGXFSZ; the agent's own
 * takes no signals. The kernel sends it to the thread that writes. */
static void dump_on_exit(void)
{
	const struct timespec at_once = { 0 };
	sigset_t size_limit, old, before;
	sigemptyset(&size_limit);
	sigaddset(&size_limit, SIGXFSZ);
	sigpending(&before);
	pthread_sigmask(SIG_BLOCK, &size_limit, &old);
	dump_now(&(struct dump_request){ .reason = "exit", .at_exit = true });
	if (!sigismember(&before, SIGXFSZ))
		sigtimedwait(&size_limit, NULL, &at_once);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/* Once: when the VM ends, which Ruby may do to die by a signal, or else with exit. */
static void dump_at_exit(void)
{
	static pid_t done;
	if (done == owner || !config.on_exit || !leave_stand_in())
		return;
	done = owner;
	dump_on_exit();
	leave_served();
}

/* A Ruby that dies by a signal comes no further. */
static void at_end(void)
{
	if (!owner || owner != getpid())
		return;
	ruby_stop();
	dump_at_exit();
	leave();
}

static bool is_in_scope(void)
{
	return config.scope & CONFIG_ALL || (config.scope & CONFIG_RUBY && ruby_present()) ||
	       (config.scope & CONFIG_NAME && strcmp(config.name, self_program()) == 0);
}

static void say_unknown(void)
{
	if (*config.unknown)
		dprintf(
		    STDERR_FILENO,
		    "libjprof-agent: JPROF_AGENT: not understood: %s; it takes every=10m, at=cgroup:85%%, at=rss:900M, at=peak, "
		    "on=exit, for=ruby|all|NAME, signal=usr2|none|NUMBER, socket=off, mode=0644, ruby=on|off, slots=128k|off, native=64, "
		    "epoch=10m|off, off\n",
		    config.unknown);
}

static void no_profiling(void)
{
	signal_install_refusal(config.signal,
	                       "libjprof-agent: no dump: profiling is off in this process; start it with prof:true in "
	                       "MALLOC_CONF, and a jemalloc built with --enable-prof\n");
}

/* Returns NULL, or why nothing is added to samples. With prof_accum jemalloc keeps every stack for ever, one for each
 * epoch: then there are none. */
static const char *start_adding(void)
{
	static char why[120];
	if (!config.ruby)
		return "JPROF_AGENT has ruby=off";
	if (sample_refusal())
		return sample_refusal();
	if (memory_addresses_left() < ADDRESSES_MIN)
		return "ulimit -v leaves less than 512 MiB of address space, and the program may need all of it";
	int error = synthetic_reserve();
	if (!error && ruby_present())
		error = stacktree_init();
	if (!error)
		error = epoch_init(jemalloc_bool("opt.prof_accum") ? 0 : config.epoch);
	if (error) {
		snprintf(why, sizeof why, "no memory could be had for them: %s", errno_text(error));
		return why;
	}
	return sample_init(config.native);
}

/* Samples get their epochs, and those of a Ruby their Ruby stacks. */
static void start_samples(void)
{
	const char *why = start_adding();
	if (why)
		slots_refuse(why);
	else if (ruby_present())
		slots_init(config.slots);
	if (!why) {
		dumptable_init();
		otherdump_init();
	}
	ruby_start(at_end);
	if (why || !ruby_present())
		ruby_stacks_refuse(why ? why : "");
}

static const char *triggers_text(void)
{
	static struct textbuf text;
	config_triggers(&config, &text);
	return text.data ? text.data : "";
}

/* mallctl initializes jemalloc: its locks must be released in a child before this agent's handler runs. */
__attribute__((constructor)) static void agent_load(void)
{
	int error = errno;
	self_init();
	if (ruby_present())
		newobj_load();
	config_parse(&config, getenv("JPROF_AGENT"));
	if (config.off || !is_in_scope() || !jemalloc_present())
		return;
	say_unknown();
	if (!jemalloc_bool("opt.prof")) {
		no_profiling();
	} else if (pthread_atfork(before_fork, after_fork_parent, after_fork_child) == 0) {
		start_samples();
		thread_init();
		trouble_init();
		our_signal = signal_install(config.signal);
		place_init();
		dump_init(config.mode);
		request_init(our_signal, triggers_text());
		start_agent();
	}
	errno = error;
}

__attribute__((destructor)) static void unload(void)
{
	at_end();
}
