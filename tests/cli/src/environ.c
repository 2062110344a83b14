/* Prints its arguments and the variables that jprof run sets, one a line, and ends with 7. */
#include <stdio.h>
#include <stdlib.h>

static void put(const char *name)
{
	const char *value = getenv(name);
	printf("%s=%s\n", name, value ? value : "(unset)");
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		printf("argument %s\n", argv[i]);
	put("LD_PRELOAD");
	put("MALLOC_CONF");
	put("JPROF_AGENT");
	return 7;
}
