/* A program that forks while one of its threads takes samples, and another loads and unloads. Each child loads a
 * library, and ends.
 * usage: loader SECONDS LIBRARY...: loads all but the last, which the thread and the children load.
 *
 * As in a Ruby, no thread of the program itself loads while another forks: the loader's lock is the agent's alone to
 * leave behind. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HANGS_AFTER_S = 30 };

static pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
static const char *library;

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *sample(void *unused)
{
	static void *volatile kept;
	for (;;) {
		kept = malloc(3000);
		free(kept);
	}
	return unused;
}

static void *load(void *unused)
{
	for (;;) {
		pthread_mutex_lock(&loading);
		void *handle = dlopen(library, RTLD_NOW);
		if (!handle || dlclose(handle) != 0)
			abort();
		pthread_mutex_unlock(&loading);
		usleep(1000);
	}
	return unused;
}

/* Forks a child that loads. Returns whether it ended, and well. */
static int split(void)
{
	int status;
	pthread_mutex_lock(&loading);
	pid_t child = fork();
	if (child == 0)
		_exit(dlopen(library, RTLD_NOW) ? 0 : 7);
	pthread_mutex_unlock(&loading);
	for (double end = now() + HANGS_AFTER_S; waitpid(child, &status, WNOHANG) == 0; usleep(200))
		if (now() > end)
			return 0;
	return status == 0;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	unsigned forks = 0, bad = 0;
	if (argc < 3)
		return 2;
	library = argv[argc - 1];
	for (int i = 2; i < argc - 1; i++)
		if (!dlopen(argv[i], RTLD_NOW))
			abort();
	pthread_create(&threads[0], NULL, sample, NULL);
	pthread_create(&threads[1], NULL, load, NULL);
	for (double end = now() + atof(argv[1]); now() < end && !bad; forks++)
		bad += !split();
	printf("%u forks, %u children hang\n", forks, bad);
	return bad ? 1 : 0;
}
