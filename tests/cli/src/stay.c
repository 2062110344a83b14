/* Takes 100 blocks, dumps, makes the file stay.ready, and stays until the end of its input.
 * usage: stay DUMP */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

void *held[100];

__attribute__((noinline)) void stay_here(void)
{
	for (int i = 0; i < 100; i++)
		held[i] = malloc(5000);
}

int main(int argc, char **argv)
{
	int (*mallctl)(const char *, void *, size_t *, void *, size_t) = dlsym(RTLD_DEFAULT, "mallctl");
	const char *path = argv[argc - 1];
	stay_here();
	if (!mallctl || mallctl("prof.dump", NULL, NULL, &path, sizeof path))
		return 1;
	FILE *ready = fopen("stay.ready", "w");
	fputs("ready\n", ready);
	fclose(ready);
	while (getchar() != EOF)
		continue;
	return 0;
}
