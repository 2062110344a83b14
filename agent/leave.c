#include "leave.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include "dump.h"
#include "server.h"
#include "wake.h"

enum { PATIENCE_MS = 50, DUMP_MS = 10000 };

static pthread_mutex_t serving = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool leaving;
static sem_t removed; /* the socket's file is; all zero is a semaphore of 0 */

void leave_serve(void)
{
	pthread_mutex_lock(&serving);
	if (!atomic_load(&leaving))
		return;
	server_unlink();
	sem_post(&removed);
	for (;;)
		pause();
}

void leave_served(void)
{
	pthread_mutex_unlock(&serving);
}

static struct timespec soon(void)
{
	struct timespec end;
	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_nsec += PATIENCE_MS * 1000000L;
	end.tv_sec += end.tv_nsec / 1000000000L;
	end.tv_nsec %= 1000000000L;
	return end;
}

bool leave_stand_in(void)
{
	int waited = 0;
	do {
		struct timespec end = soon();
		if (pthread_mutex_timedlock(&serving, &end) == 0)
			return true;
		waited += PATIENCE_MS;
	} while (dump_is_written() && waited < DUMP_MS);
	return false;
}

static bool is_removed_in_time(void)
{
	struct timespec end = soon();
	int rc;
	while ((rc = sem_timedwait(&removed, &end)) != 0 && errno == EINTR)
		;
	return rc == 0;
}

/* A thread that did not come to serve for want of a processor is at no file system: this one does it. What it locks
 * stays locked. */
void leave(void)
{
	if (atomic_exchange(&leaving, true))
		return;
	if (pthread_mutex_trylock(&serving) == 0) {
		if (!server_has_file())
			return;
		pthread_mutex_unlock(&serving);
	}
	wake();
	if (!is_removed_in_time() && pthread_mutex_trylock(&serving) == 0)
		server_unlink();
}

void leave_forked(void)
{
	pthread_mutex_init(&serving, NULL);
	sem_init(&removed, 0, 0);
	atomic_store(&leaving, false);
}
