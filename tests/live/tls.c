/* A program with TLS_KIB KiB of static TLS, half of it with values, which glibc takes out of each thread's stack. It
 * forks a child that waits as it does, and says both pids. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static __thread volatile char zeros[TLS_KIB * 512 + 1];
static __thread volatile char values[TLS_KIB * 512 + 1] = { 1 };
static void *volatile kept[3000];

static void *use(void *unused)
{
	zeros[sizeof zeros - 1] = values[0];
	return unused;
}

int main(void)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, use, NULL) != 0 || pthread_join(thread, NULL) != 0)
		return 1;
	use(NULL);
	for (int i = 0; i < 3000; i++)
		kept[i] = malloc(500);
	pid_t child = fork();
	if (child > 0)
		printf("%d\n", (int)child);
	fflush(stdout);
	alarm(120);
	for (;;)
		pause();
}
