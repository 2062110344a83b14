/* A program that knows nothing of jemalloc or the agent.
 * usage: subject [hold] [block] [ready] [fill] [close] [fork] [forks] [later] [hush] [daemon] [exec] [wait] [exit]:
 * does these one after the other. forks: children that end at once, until standard input ends; tells how long the
 * longest fork() took. later: in half a second. hush: closes standard output. wait: for two minutes, then die. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char **self;
static void *volatile kept[1000];

static void hold(void)
{
	for (int i = 0; i < 1000; i++)
		kept[i] = malloc(10000);
}

static void block(void)
{
	sigset_t all;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
}

/* As daemons do, and files of its own take their numbers. */
static void close_all(void)
{
	for (int fd = 3; fd < 64; fd++)
		close(fd);
	for (int i = 0; i < 40; i++)
		if (open("own", O_RDWR | O_CREAT | O_APPEND, 0600) < 0)
			abort();
}

/* The parent waits, with the child's status as its own. */
static void split(void)
{
	int status;
	pid_t child = fork();
	if (child < 0)
		abort();
	if (child > 0) {
		waitpid(child, &status, 0);
		exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
	}
}

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void forks(void)
{
	struct pollfd end = { .fd = STDIN_FILENO, .events = POLLIN };
	double longest = 0;
	alarm(120);
	while (poll(&end, 1, 5) <= 0) {
		double began = now();
		pid_t child = fork();
		if (child == 0)
			_exit(0);
		double took = now() - began;
		longest = took > longest ? took : longest;
		waitpid(child, NULL, 0);
	}
	printf("%.3f\n", longest);
	fflush(stdout);
}

/* For a file of that name. */
static void ready(void)
{
	while (access("ready", F_OK) != 0)
		usleep(10000);
}

/* Takes all descriptors that may be had, until there is a file of that name. */
static void fill(void)
{
	struct rlimit few = { 60, 60 };
	setrlimit(RLIMIT_NOFILE, &few);
	int first = open("/dev/null", O_RDONLY), last = first;
	for (int fd = first; fd >= 0; fd = open("/dev/null", O_RDONLY))
		last = fd;
	while (access("empty", F_OK) != 0)
		usleep(10000);
	close(first);
	close(last);
}

static void become_daemon(void)
{
	if (daemon(1, 1) != 0)
		abort();
}

static void start_over(void)
{
	char *again[] = { self[0], "hold", "wait", NULL };
	execv(self[0], again);
	abort();
}

/* Until its agent is there. */
static void later(void)
{
	printf("%d\n", (int)getpid());
	fflush(stdout);
	usleep(500000);
}

static void hush(void)
{
	close(STDOUT_FILENO);
}

static void wait_long(void)
{
	printf("%d\n", (int)getpid());
	fflush(stdout);
	alarm(1200);
	for (;;)
		pause();
}

static void stop(void)
{
	exit(3);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} steps[] = {
		{ "hold", hold },       { "block", block },    { "close", close_all },
		{ "fork", split },      { "ready", ready },    { "daemon", become_daemon },
		{ "exec", start_over }, { "wait", wait_long }, { "exit", stop },
		{ "fill", fill },       { "forks", forks },    { "later", later },
		{ "hush", hush },
	};
	self = argv;
	for (int i = 1; i < argc; i++)
		for (size_t k = 0; k < sizeof steps / sizeof *steps; k++)
			if (strcmp(argv[i], steps[k].name) == 0)
				steps[k].run();
	return 0;
}
