#include "trouble.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* An offset of a file, in steps that are whole pages on every machine. */
#define FIRST_OFFSET (1l << 30)
enum { STEP = 1 << 16, ERRORS = 256 };

static char library[PATH_MAX]; /* of the agent, "": not known */
static void *page;
static long reported; /* the offset of the page */

void trouble_init(void)
{
	Dl_info info;
	if (dladdr(library, &info) && info.dli_fname)
		snprintf(library, sizeof library, "%s", info.dli_fname);
}

/* Not under handle_lock(): no fork shall wait for a file system. The page does not go on to children. */
static void *map_library(long offset, size_t size)
{
	int fd = *library ? open(library, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK) : -1;
	void *mapped = fd >= 0 ? mmap(NULL, size, PROT_NONE, MAP_PRIVATE, fd, offset) : MAP_FAILED;
	if (fd >= 0)
		close(fd);
	if (mapped == MAP_FAILED)
		return NULL;
	madvise(mapped, size, MADV_DONTFORK);
	return mapped;
}

void trouble_forked(void)
{
	page = NULL;
}

void trouble_report(enum trouble trouble, int error)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	long offset = FIRST_OFFSET + ((long)trouble * ERRORS + (error > 0 && error < ERRORS ? error : 0)) * STEP;
	if (page && (trouble == TROUBLE_NONE || offset != reported)) {
		munmap(page, size);
		page = NULL;
	}
	if (trouble == TROUBLE_NONE || page)
		return;
	reported = offset;
	page = map_library(offset, size);
}
