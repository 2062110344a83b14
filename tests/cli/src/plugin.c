/* A library that is deleted while it is mapped: its function must still be named. */
#include <stdlib.h>

void *volatile plugin_held[2000];

__attribute__((noinline)) void plugin_keep(void)
{
	for (int i = 0; i < 2000; i++) {
		char *p = malloc(5000);
		p[0] = 1;
		plugin_held[i] = p;
	}
}
