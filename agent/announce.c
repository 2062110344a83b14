#include "announce.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "handle.h"

enum { PROTOCOL = 1 };

static void *page;

/* Nothing is behind the page, and nobody touches it: its name is all. So no limit of a file's size is in the way. */
static void *map(const char *name, size_t size)
{
	int fd = handle_memory(HANDLE_BRIEF, name, 0);
	if (fd < 0)
		return NULL;
	void *mapped = mmap(NULL, size, PROT_NONE, MAP_SHARED, fd, 0);
	int error = errno;
	handle_close(HANDLE_BRIEF);
	errno = error;
	if (mapped == MAP_FAILED)
		return NULL;
	madvise(mapped, size, MADV_DONTFORK);
	return mapped;
}

int announce(int signo, const char *socket)
{
	char name[ANNOUNCE_SOCKET_MAX + 30];
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	snprintf(name, sizeof name, "jprof-agent:%d:%d:%s", PROTOCOL, signo, socket);
	if (page)
		munmap(page, size);
	page = map(name, size);
	return page ? 0 : errno;
}

void announce_forked(void)
{
	page = NULL;
}
