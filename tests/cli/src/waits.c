/* Sits there until it is ended; with a word, under that title. "usr2": with a handler for USR2. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void nothing(int signal)
{
	(void)signal;
}

int main(int argc, char **argv)
{
	void *kept = malloc(1000000);
	if (argc > 1 && !strcmp(argv[1], "usr2"))
		signal(SIGUSR2, nothing);
	/* As setproctitle does: over the arguments and what follows them. */
	if (argc > 1 && !strcmp(argv[1], "title"))
		memset(argv[0], 'x', (size_t)(argv[argc - 1] - argv[0]) + 400);
	printf("ready\n");
	fflush(stdout);
	for (;;)
		pause();
	free(kept);
}
