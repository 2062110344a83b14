#include "announce.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "handle.h"

enum { PROTOCOL = 1 };

static void *page;

static void *map(const char *name, size_t size)
{
	int fd = handle_memory(HANDLE_BRIEF, name, 0);
	if (fd < 0)
		return NULL;
	void *mapped = ftruncate(fd, (off_t)size) == 0 ? mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
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
