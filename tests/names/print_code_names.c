/* print_code_names FILE...
 * What the code of each file says of its functions, also of those that symbols name: START NAME, by address.
 * print_code_names -c FILE START...
 * Of the functions that begin there, those that one function alone calls: START CALLER. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "input/codenames.h"

static int print_file(const char *path, char **starts, int start_count)
{
	struct jp_objfile *file;
	struct jprof_error err;
	uint64_t caller;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || jp_objfile_borrow(fd, path, &file, &err)) {
		fprintf(stderr, "%s: is no ELF file\n", path);
		return 1;
	}
	struct jp_codenames *names = jp_codenames_new(file, start_count > 0);
	uint64_t start;
	for (int i = 0; names && i < start_count; i++)
		if (jp_codenames_caller(names, strtoull(starts[i], NULL, 16), &caller))
			printf("%s %" PRIx64 "\n", starts[i], caller);
	for (size_t i = 0; !start_count && names && jp_codenames_start(names, i, &start); i++)
		printf("%" PRIx64 " %s\n", start, jp_codenames_at(names, start));
	int rc = names ? 0 : 1;
	jp_codenames_free(names);
	jp_objfile_close(file);
	close(fd);
	return rc;
}

int main(int argc, char **argv)
{
	int rc = 0;
	if (argc > 2 && !strcmp(argv[1], "-c"))
		return print_file(argv[2], argv + 3, argc - 3);
	for (int i = 1; i < argc; i++)
		rc |= print_file(argv[i], NULL, 0);
	return rc;
}
