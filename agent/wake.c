#include "wake.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "handle.h"

static volatile pid_t reader; /* the process whose thread reads the pipe */
static atomic_bool asked;
static atomic_bool said;
static char wake_refusal[200];
static char way_in[64]; /* to the agent's thread's pipe, from any thread */
static atomic_bool reachable;

/* The pipe of the agent's thread, which the program may have closed in its own table. */
static int open_again(void)
{
	return atomic_load(&reachable) ? open(way_in, O_WRONLY | O_NONBLOCK | O_CLOEXEC) : -1;
}

void wake(void)
{
	int error = errno, fd = handle_fd(HANDLE_WAKE_WRITE);
	bool lost = fd < 0;
	if (lost)
		fd = open_again();
	if (fd >= 0 && write(fd, "", 1) < 0)
		errno = error; /* full: it wakes anyway */
	if (lost && fd >= 0)
		close(fd);
	errno = error;
}

/* In a child that shares this memory (vfork) or has not got its own agent yet, nothing is asked for. */
static void on_dump_signal(int signo)
{
	int error = errno;
	(void)signo;
	if (getpid() == reader) {
		atomic_store(&asked, true);
		wake();
	}
	errno = error;
}

static void on_refused(int signo)
{
	int error = errno;
	(void)signo;
	if (!atomic_exchange(&said, true) && write(STDERR_FILENO, wake_refusal, strlen(wake_refusal)) < 0)
		errno = error;
	errno = error;
}

static bool install_handler(int signo, void (*handler)(int))
{
	struct sigaction now, action = { .sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK };
	if (sigaction(signo, NULL, &now) != 0 || now.sa_handler != SIG_DFL)
		return false;
	return sigaction(signo, &action, NULL) == 0;
}

int signal_install(int signo)
{
	return signo && install_handler(signo, on_dump_signal) ? signo : 0;
}

void signal_install_refusal(int signo, const char *why)
{
	strncpy(wake_refusal, why, sizeof wake_refusal - 1);
	if (signo)
		install_handler(signo, on_refused);
}

/* Ruby takes a handler that stands for its own, with flags of its own. */
bool signal_owned(int signo)
{
	struct sigaction now;
	return signo && sigaction(signo, NULL, &now) == 0 && now.sa_handler == on_dump_signal;
}

bool wake_open(void)
{
	int fds[2] = { -1, -1 };
	handle_close(HANDLE_WAKE_READ);
	handle_close(HANDLE_WAKE_WRITE);
	handle_lock();
	bool made = pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0;
	bool kept_read = handle_keep(HANDLE_WAKE_READ, fds[0]);
	bool kept_write = handle_keep(HANDLE_WAKE_WRITE, fds[1]);
	handle_unlock();
	made = made && kept_read && kept_write;
	reader = made ? getpid() : 0;
	return made;
}

bool wake_lost(void)
{
	return handle_fd(HANDLE_WAKE_READ) < 0 || handle_fd(HANDLE_WAKE_WRITE) < 0;
}

/* What jemalloc says on standard error must not come into a dump or a reply: there is nothing that takes it. */
static void guard_stderr(void)
{
	if (fcntl(STDERR_FILENO, F_GETFD) < 0)
		dup3(handle_fd(HANDLE_WAKE_READ), STDERR_FILENO, O_CLOEXEC);
}

void wake_part(void)
{
	bool apart = handle_part();
	if (wake_lost())
		wake_open();
	if (apart)
		guard_stderr();
	snprintf(way_in, sizeof way_in, "/proc/self/task/%ld/fd/%d", syscall(SYS_gettid), handle_fd(HANDLE_WAKE_READ));
	atomic_store(&reachable, apart);
}

void wake_forked(void)
{
	atomic_store(&asked, false);
	atomic_store(&reachable, false);
	reader = getpid();
}

bool wake_asked(void)
{
	return atomic_load(&asked);
}

void wake_empty(void)
{
	char bytes[512];
	int fd = handle_fd(HANDLE_WAKE_READ);
	while (fd >= 0 && read(fd, bytes, sizeof bytes) > 0)
		;
}

bool wake_drain(void)
{
	wake_empty();
	return atomic_exchange(&asked, false);
}
