/* A program with a dump handler of its own, as recipes for C programs have it: USR2 makes it dump, in its main loop.
 * argument 1: "late" dumps slowly, a piece at a time; "never" not at all; "die" ends. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t wanted;

static void on_usr2(int signal)
{
	(void)signal;
	wanted = 1;
}

extern int mallctl(const char *name, void *old, size_t *old_len, void *new, size_t new_len);

void *volatile held[1000];

__attribute__((noinline)) void *h_alloc(size_t size)
{
	char *p = malloc(size);
	return memset(p, 1, size);
}

/* The same dump, written as slowly as a full disk would. */
static void dump_late(const char *path)
{
	const char *temporary = "late.tmp";
	mallctl("prof.dump", NULL, NULL, &temporary, sizeof temporary);
	FILE *from = fopen(temporary, "r"), *to = fopen(path, "w");
	static char half[1 << 20];
	size_t len = fread(half, 1, sizeof half, from);
	for (size_t i = 0; i < 4; i++) {
		size_t start = len * i / 4, end = len * (i + 1) / 4;
		fwrite(half + start, 1, end - start, to);
		fflush(to);
		usleep(300000);
	}
	fclose(from);
	fclose(to);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	struct sigaction action = { .sa_handler = on_usr2 };
	sigaction(SIGUSR2, &action, NULL);
	for (int i = 0; i < 1000; i++)
		held[i] = h_alloc(10000);
	fclose(fopen("ready", "w"));
	for (;;) {
		usleep(10000);
		if (!wanted)
			continue;
		wanted = 0;
		char path[64];
		snprintf(path, sizeof path, "own.%d.0.m0.heap", (int)getpid());
		if (!strcmp(how, "late"))
			dump_late(path);
		else if (!strcmp(how, "die"))
			return 3;
		else if (strcmp(how, "never"))
			mallctl("prof.dump", NULL, NULL, NULL, 0);
	}
}
