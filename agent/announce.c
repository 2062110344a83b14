#include "announce.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "handle.h"

enum { PROTOCOL = 1, NO_EXEC = 8 /* MFD_NOEXEC_SEAL, Linux 6.3 */ };

static void *page;

static int named_file(const char *name)
{
	int fd = memfd_create(name, MFD_CLOEXEC | NO_EXEC);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC);
	return fd;
}

static void *map(const char *name, size_t size)
{
	int fd = named_file(name);
	if (fd < 0)
		return NULL;
	void *mapped = ftruncate(fd, (off_t)size) == 0 ? mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
	close(fd);
	if (mapped == MAP_FAILED)
		return NULL;
	madvise(mapped, size, MADV_DONTFORK);
	return mapped;
}

void announce(int signo, const char *socket)
{
	char name[ANNOUNCE_SOCKET_MAX + 30];
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	snprintf(name, sizeof name, "jprof-agent:%d:%d:%s", PROTOCOL, signo, socket);
	if (page)
		munmap(page, size);
	handle_lock();
	page = map(name, size);
	handle_unlock();
}

void announce_forked(void)
{
	page = NULL;
}
