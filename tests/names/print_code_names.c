/* print_code_names FILE...
 * What the code of each file says of its functions, also of those that symbols name: START NAME, by address. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "input/codenames.h"

static int print_file(const char *path)
{
	struct jp_objfile *file;
	struct jprof_error err;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || jp_objfile_borrow(fd, path, &file, &err)) {
		fprintf(stderr, "%s: is no ELF file\n", path);
		return 1;
	}
	struct jp_codenames *names = jp_codenames_new(file);
	uint64_t start;
	for (size_t i = 0; names && jp_codenames_start(names, i, &start); i++)
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
	for (int i = 1; i < argc; i++)
		rc |= print_file(argv[i]);
	return rc;
}
