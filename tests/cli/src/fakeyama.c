/* For LD_PRELOAD, where the kernel has no Yama: opening the memory of a process fails as Yama lets it fail, with the
 * number in FAKE_ERRNO, and kernel.yama.ptrace_scope is FAKE_YAMA. A stand-in: what the kernel does is not tried. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int fake_scope(void)
{
	const char *scope = getenv("FAKE_YAMA");
	int fd = memfd_create("ptrace_scope", MFD_CLOEXEC);
	if (fd >= 0 && scope && write(fd, scope, strlen(scope)) > 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

static int fake_open(const char *name, const char *path, int flags, mode_t mode)
{
	size_t len = strlen(path);
	if (!strcmp(path, "/proc/sys/kernel/yama/ptrace_scope"))
		return fake_scope();
	if (!strncmp(path, "/proc/", 6) && len > 4 && !strcmp(path + len - 4, "/mem")) {
		const char *number = getenv("FAKE_ERRNO");
		errno = number ? atoi(number) : EPERM;
		return -1;
	}
	union {
		void *found;
		int (*open)(const char *path, int flags, ...);
	} next = { dlsym(RTLD_NEXT, name) };
	return next.open(path, flags, mode);
}

int open(const char *path, int flags, ...)
{
	va_list args;
	va_start(args, flags);
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	return fake_open("open", path, flags, mode);
}

#ifndef open64 /* musl's is open itself */
int open64(const char *path, int flags, ...)
{
	va_list args;
	va_start(args, flags);
	mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(args, mode_t) : 0;
	va_end(args);
	return fake_open("open64", path, flags, mode);
}
#endif
