/* What a jemalloc without --enable-prof does with MALLOC_CONF, as far as a caller can see: the names that tell it is
 * one, and a line for each pair that it does not know. It leaves malloc to libc. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int mallctl(const char *name, void *old, size_t *len, void *new, size_t new_len)
{
	(void)name, (void)old, (void)len, (void)new, (void)new_len;
	return 2;
}

__attribute__((constructor)) static void read_conf(void)
{
	const char *conf = getenv("MALLOC_CONF");
	char copy[1024], *rest;
	if (!conf)
		return;
	snprintf(copy, sizeof copy, "%s", conf);
	for (char *pair = strtok_r(copy, ",", &rest); pair; pair = strtok_r(NULL, ",", &rest))
		if (!strncmp(pair, "prof", 4) || !strncmp(pair, "lg_prof", 7) || !strncmp(pair, "jprof", 5))
			fprintf(stderr, "<jemalloc>: Invalid conf pair: %s\n", pair);
}
