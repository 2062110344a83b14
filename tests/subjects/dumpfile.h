/* What programs that write dumps of themselves share. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

static inline FILE *create(const char *prefix, const char *suffix)
{
	char path[4096];
	snprintf(path, sizeof path, "%s.%s", prefix, suffix);
	FILE *file = fopen(path, "w");
	if (!file) {
		perror(path);
		exit(1);
	}
	return file;
}

static inline void close_checked(FILE *file)
{
	if (ferror(file) || fclose(file)) {
		perror("subject");
		exit(1);
	}
}

/* The maps of this process. */
static inline void copy_maps(FILE *to)
{
	char buffer[4096];
	size_t n;
	FILE *maps = fopen("/proc/self/maps", "r");
	if (!maps)
		abort();
	while ((n = fread(buffer, 1, sizeof buffer, maps)))
		fwrite(buffer, 1, n, to);
	fclose(maps);
}
