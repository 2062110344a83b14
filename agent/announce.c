#include "announce.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "errno_text.h"
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

static void say_denied(const char *call, const char *what)
{
	static bool said;
	char line[200];
	int len = snprintf(line, sizeof line, "libjprof-agent: jprof cannot %s: %s: %s; signals still make dumps\n",
	                   what, call, errno_text(errno));
	if (!said && write(STDERR_FILENO, line, (size_t)len) == len)
		said = true;
}

/* Binds to a name that the kernel chooses. */
static void check_socket(void)
{
	struct sockaddr_un any = { .sun_family = AF_UNIX };
	static const char what[] = "ask this process";
	handle_lock();
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), error = errno;
	handle_keep(HANDLE_BRIEF, fd);
	handle_unlock();
	errno = error;
	if (fd < 0)
		say_denied("socket", what);
	else if (bind(fd, (const void *)&any, sizeof any.sun_family) != 0)
		say_denied("bind", what);
	handle_close(HANDLE_BRIEF);
}

void announce_check(bool socket)
{
	if (handle_memory(HANDLE_BRIEF, "jprof", 0) < 0)
		say_denied("memfd_create", "find this process");
	handle_close(HANDLE_BRIEF);
	if (socket)
		check_socket();
}

void announce_forked(void)
{
	page = NULL;
}
