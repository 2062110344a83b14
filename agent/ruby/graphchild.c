#include "ruby/graphchild.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "errno_text.h"
#include "handle.h"
#include "memory.h"
#include "ruby/objectgraph.h"
#include "ruby/ruby_api.h"
#include "self.h"
#include "wake.h"

enum {
	LONGEST_S = 120,
	GOING_MS = 500,
	SUM_REST = 20,        /* times as long as the sum of its pages takes it is not asked for again */
	GRAPH_LOOK_MS = 100,  /* how often the child is looked at */
	OWN_BYTES = 16 << 20, /* of page tables and buffers, and some of the program's */
	ROOM_LEFT = 8 << 20,  /* that the control group keeps */
	PIPE_BYTES = 1 << 20,
	NICENESS = 10,
	CLOSE_RANGE_CALL = 436,
	MOST_DESCRIPTORS = 1 << 16
};

static atomic_bool graph_prepared;
static atomic_int child;      /* its pid; 0: there is none */
static atomic_int fork_error; /* why there is none: an errno; UNWALKABLE */
static uint64_t bound;        /* bytes that may be copied; what follows is the agent's thread's, too */
static uint64_t next_look, next_sum;
static char graph_why[256];

enum { NOT_TRIED = -1, UNWALKABLE = -2 };

/* ---- the child ---- */

/* The numbers stay the program's in the program: what is closed here is closed nowhere else. */
static void close_all_but(int fd)
{
	if (fd != 0)
		dup2(fd, 0);
	if (syscall(CLOSE_RANGE_CALL, 1, ~0u, 0) == 0)
		return;
	for (int i = 1; i < MOST_DESCRIPTORS; i++)
		close(i);
}

/* Where memory runs short, the kernel is to take this one first. */
static void offer_to_kernel(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	if (fd >= 0 && write(fd, "1000", 4) != 4)
		errno = 0;
}

static void settle_in(int fd)
{
	const struct sigaction by_default = { .sa_handler = SIG_DFL };
	const struct rlimit none = { 0, 0 };
	sigset_t all;
	for (int signo = 1; signo < NSIG; signo++)
		sigaction(signo, &by_default, NULL);
	setrlimit(RLIMIT_CORE, &none);
	prctl(PR_SET_NAME, "jprof-objects");
	offer_to_kernel();
	close_all_but(fd);
	setpriority(PRIO_PROCESS, 0, NICENESS);
	alarm(LONGEST_S);
	sigfillset(&all);
	sigprocmask(SIG_UNBLOCK, &all, NULL);
}

static VALUE write_graph(VALUE unused)
{
	objectgraph_write(0);
	return unused;
}

/* The descriptor is looked at here, where no other thread is: who asked may have given up and closed it. What raises
 * comes back to rb_protect, and goes no further. */
static void be_child(void)
{
	int fd = handle_fd(HANDLE_GRAPH_WRITE), state;
	if (fd >= 0) {
		settle_in(fd);
		ruby.rb_protect(write_graph, 0, &state);
	}
	for (;;)
		syscall(SYS_exit_group, 0);
}

/* ---- on a Ruby thread ---- */

/* clone() without a signal for the parent: SIGCHLD and wait() are the program's. No handler of pthread_atfork runs, so
 * locks of other threads, malloc's among them, stay as they are: the child takes none. */
static int fork_unseen(void)
{
	sigset_t all, old;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	long pid = syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	if (pid == 0)
		be_child();
	int error = pid < 0 ? errno : 0;
	if (!error)
		atomic_store(&child, (int)pid);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return error;
}

void graphchild_start(void)
{
	if (!atomic_exchange(&graph_prepared, false))
		return;
	atomic_store(&fork_error, objectgraph_list() ? fork_unseen() : UNWALKABLE);
	objectgraph_forget();
	wake();
}

/* ---- on the agent's thread ---- */

static bool make_pipe(void)
{
	int fds[2] = { -1, -1 };
	handle_lock();
	bool made = pipe2(fds, O_CLOEXEC) == 0;
	int error = errno;
	bool kept_read = handle_keep(HANDLE_GRAPH_READ, fds[0]), kept_write = handle_keep(HANDLE_GRAPH_WRITE, fds[1]);
	handle_unlock();
	errno = error;
	if (made)
		fcntl(fds[1], F_SETPIPE_SZ, PIPE_BYTES);
	return made && kept_read && kept_write;
}

static void close_pipe(void)
{
	handle_close(HANDLE_GRAPH_READ);
	handle_close(HANDLE_GRAPH_WRITE);
}

/* Who has read a graph to its end may ask at once: its child has a moment to go. */
static bool is_child_gone(void)
{
	const struct timespec moment = { .tv_nsec = 1000000 };
	for (int i = 0; i < GOING_MS && atomic_load(&child); i++) {
		graphchild_tend();
		if (atomic_load(&child))
			nanosleep(&moment, NULL);
	}
	return !atomic_load(&child);
}

const char *graphchild_prepare(void)
{
	uint64_t room = memory_room();
	bound = memory_rss() / 2 + OWN_BYTES;
	close_pipe();
	if (!objectgraph_known())
		return "this Ruby does not export all functions by which the agent lists its objects";
	if (!is_child_gone())
		return "the graph of an earlier request is still being written; try again later";
	if (room < bound + ROOM_LEFT) {
		snprintf(graph_why, sizeof graph_why,
		         "its control group, or the machine, has %llu MB of memory left, and what is copied while its "
		         "objects are written may take %llu MB: raise the limit",
		         (unsigned long long)(room >> 20), (unsigned long long)((bound + ROOM_LEFT) >> 20));
		return graph_why;
	}
	if (!make_pipe()) {
		snprintf(graph_why, sizeof graph_why, "no pipe for it: %s", errno_text(errno));
		close_pipe();
		return graph_why;
	}
	atomic_store(&fork_error, NOT_TRIED);
	atomic_store(&graph_prepared, true);
	return NULL;
}

const char *graphchild_settle(void)
{
	atomic_store(&graph_prepared, false);
	int error = atomic_load(&fork_error);
	handle_close(HANDLE_GRAPH_WRITE);
	if (!error)
		return NULL;
	handle_close(HANDLE_GRAPH_READ);
	if (error == NOT_TRIED)
		return "no Ruby thread came to it in time";
	if (error == UNWALKABLE)
		return "it has several ractors, or no memory for the list of its heap's pages";
	snprintf(graph_why, sizeof graph_why, "no child could be forked: %s", errno_text(error));
	return graph_why;
}

static uint64_t kilobytes_at(const char *text, const char *key)
{
	const char *at = strstr(text, key);
	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

/* What the child alone has by now: what the process, or the child, has written since the fork. The kernel walks all
 * pages for it, so that of a large process it is asked less often. */
static uint64_t copied_bytes(int pid)
{
	char path[64], text[2048];
	uint64_t began = self_clock();
	if (began < next_sum)
		return 0;
	snprintf(path, sizeof path, "/proc/%d/smaps_rollup", pid);
	ssize_t len = self_read_file(path, text, sizeof text);
	next_sum = self_clock() + SUM_REST * (self_clock() - began);
	if (len <= 0)
		return 0;
	return (kilobytes_at(text, "Private_Clean:") + kilobytes_at(text, "Private_Dirty:")) * 1024;
}

int graphchild_timeout(void)
{
	return atomic_load(&child) ? GRAPH_LOOK_MS : -1;
}

void graphchild_tend(void)
{
	int pid = atomic_load(&child), status;
	if (!pid)
		return;
	pid_t ended = waitpid(pid, &status, WNOHANG | __WALL);
	if (ended == pid || (ended < 0 && errno == ECHILD)) {
		atomic_store(&child, 0);
		return;
	}
	uint64_t now = self_clock();
	if (now < next_look)
		return;
	next_look = now + GRAPH_LOOK_MS;
	if (memory_room() < ROOM_LEFT || copied_bytes(pid) > bound)
		kill(pid, SIGKILL);
}

void graphchild_forked(void)
{
	atomic_store(&child, 0);
	atomic_store(&graph_prepared, false);
}
