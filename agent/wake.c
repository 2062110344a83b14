#include "wake.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "handle.h"

static volatile pid_t owner; /* the process whose thread reads the pipe */
static atomic_bool asked;
static atomic_bool said;
static char refusal[200];

void wake(void)
{
	int error = errno, fd = handle_fd(HANDLE_WAKE_WRITE);
	if (fd >= 0 && write(fd, "", 1) < 0)
		errno = error; /* full: it wakes anyway */
	errno = error;
}

/* In a child that shares this memory (vfork) or has not got its own agent yet, nothing is asked for. */
static void on_signal(int signo)
{
	int error = errno;
	(void)signo;
	if (getpid() == owner) {
		atomic_store(&asked, true);
		wake();
	}
	errno = error;
}

static void on_refused(int signo)
{
	int error = errno;
	(void)signo;
	if (!atomic_exchange(&said, true) && write(STDERR_FILENO, refusal, strlen(refusal)) < 0)
		errno = error;
	errno = error;
}

static bool install(int signo, void (*handler)(int))
{
	struct sigaction now, action = { .sa_handler = handler, .sa_flags = SA_RESTART | SA_ONSTACK };
	if (sigaction(signo, NULL, &now) != 0 || now.sa_handler != SIG_DFL)
		return false;
	return sigaction(signo, &action, NULL) == 0;
}

int signal_install(int signo)
{
	return signo && install(signo, on_signal) ? signo : 0;
}

void signal_install_refusal(int signo, const char *why)
{
	strncpy(refusal, why, sizeof refusal - 1);
	if (signo)
		install(signo, on_refused);
}

/* Ruby takes a handler that stands for its own, with flags of its own. */
bool signal_owned(int signo)
{
	struct sigaction now;
	return signo && sigaction(signo, NULL, &now) == 0 && now.sa_handler == on_signal;
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
	owner = made ? getpid() : 0;
	return made;
}

void wake_forked(void)
{
	atomic_store(&asked, false);
	owner = getpid();
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
