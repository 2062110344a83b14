/* What the machine code of a file says of its functions. Whatever the file is, names are texts, their functions ascend,
 * and each is found at its own. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/utf8.h"
#include "fuzz.h"
#include "input/codenames.h"

enum { longest_name = 520 };

static void check_name(const char *name)
{
	size_t len = 0;
	must(name && *name && strlen(name) <= longest_name);
	while (name[len]) {
		size_t n = jp_utf8_len(name + len);
		must(n && (unsigned char)name[len] >= 0x20);
		len += n;
	}
}

static void check_names(const struct jp_codenames *names)
{
	uint64_t start, last = 0;
	for (size_t i = 0; jp_codenames_start(names, i, &start); i++) {
		must(!i || start > last);
		check_name(jp_codenames_at(names, start));
		last = start;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jp_objfile *file;
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	if (!jp_objfile_borrow(fd, "fuzz", &file, NULL)) {
		struct jp_codenames *names = jp_codenames_new(file);
		must(names);
		check_names(names);
		jp_codenames_free(names);
		jp_objfile_close(file);
	}
	close(fd);
	return 0;
}
