#include "snap/interrupt.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { grace_ms = 600, hold_ms = 200, stack = 256 << 10 };

static struct {
	volatile sig_atomic_t asked;
	volatile sig_atomic_t done; /* what was asked for */
	sem_t signal;
	pthread_mutex_t hold;
	void (*take_back)(void);
	void (*at_once)(void);
} state;

/* The signal that is raised ends the program when the handler returns: see catch_one. */
static void on_second_signal(int signal)
{
	state.at_once();
	raise(signal);
}

/* Once: then the signal ends the program. */
static void catch_one(int signal, void (*handler)(int))
{
	sigaction(signal, &(struct sigaction){ .sa_handler = handler, .sa_flags = (int)SA_RESETHAND }, NULL);
}

static void on_end_signal(int signal)
{
	int error = errno;
	if (state.at_once)
		catch_one(signal, on_second_signal);
	state.asked = 1;
	sem_post(&state.signal);
	errno = error;
}

void interrupt_is_success(void)
{
	state.done = 1;
}

bool interrupted(void)
{
	return state.asked;
}

void interrupt_hold(void)
{
	if (state.take_back)
		pthread_mutex_lock(&state.hold);
}

void interrupt_release(void)
{
	if (state.take_back)
		pthread_mutex_unlock(&state.hold);
}

static bool hold_soon(void)
{
	struct timespec until;
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += hold_ms * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	return !pthread_mutex_timedlock(&state.hold, &until);
}

static void on_late(int signal)
{
	(void)signal;
	_exit(!state.done);
}

/* What is taken back may hang in a file system, too: then it stays. */
static void *end_soon(void *context)
{
	(void)context;
	while (sem_wait(&state.signal))
		continue;
	nanosleep(&(struct timespec){ .tv_nsec = grace_ms * 1000000L }, NULL);
	signal(SIGALRM, on_late);
	alarm(1);
	if (hold_soon())
		state.take_back();
	_exit(!state.done);
	return NULL;
}

/* It takes no signals itself, so that they interrupt what the main thread waits in. */
static bool start_end_thread(void)
{
	pthread_t thread;
	pthread_attr_t attributes;
	pthread_mutexattr_t nested;
	sigset_t all, before;
	if (sem_init(&state.signal, 0, 0) || pthread_attr_init(&attributes) || pthread_mutexattr_init(&nested))
		return false;
	pthread_mutexattr_settype(&nested, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&state.hold, &nested);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_attr_setstacksize(&attributes, stack);
	sigfillset(&all);
	sigdelset(&all, SIGALRM);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int error = pthread_create(&thread, &attributes, end_soon, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	pthread_mutexattr_destroy(&nested);
	return !error;
}

static bool is_ignored(int signal)
{
	struct sigaction old;
	return sigaction(signal, NULL, &old) || old.sa_handler == SIG_IGN;
}

void interrupt_at_once(void (*end)(void))
{
	state.at_once = end;
	if (!is_ignored(SIGQUIT))
		catch_one(SIGQUIT, on_second_signal);
}

void interrupt_catch(void (*take_back)(void))
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	if (state.take_back || !start_end_thread())
		return; /* without the thread such a signal ends the program at once */
	state.take_back = take_back;
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (!is_ignored(signals[i]))
			catch_one(signals[i], on_end_signal);
}
