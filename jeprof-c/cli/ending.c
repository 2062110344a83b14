#include "cli/ending.h"

#include <stddef.h>

void ending_hold(sigset_t *before)
{
	sigset_t ending;
	sigemptyset(&ending);
	sigaddset(&ending, SIGHUP);
	sigaddset(&ending, SIGINT);
	sigaddset(&ending, SIGQUIT);
	sigaddset(&ending, SIGTERM);
	pthread_sigmask(SIG_BLOCK, &ending, before);
}

void ending_release(const sigset_t *before)
{
	pthread_sigmask(SIG_SETMASK, before, NULL);
}

bool ending_waits(void)
{
	sigset_t waiting;
	return !sigpending(&waiting) && (sigismember(&waiting, SIGHUP) || sigismember(&waiting, SIGINT) ||
	                                 sigismember(&waiting, SIGQUIT) || sigismember(&waiting, SIGTERM));
}
