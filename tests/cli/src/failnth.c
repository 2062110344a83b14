/* For LD_PRELOAD: the allocation of the number FAIL_NTH (0: none) fails, of all that the process and its children ask
 * for, libraries and all; or of those that a library asks for, if FAIL_FROM is part of its path. At the end the number
 * of those is written to the file FAIL_COUNT. Needs glibc. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static atomic_ulong *asked_for;
static unsigned long nth;
static const char *from;
static int first_process;

__attribute__((constructor)) static void failnth_begin(void)
{
	const char *number = getenv("FAIL_NTH");
	void *shared = mmap(NULL, sizeof *asked_for, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	nth = number ? strtoul(number, NULL, 10) : 0;
	from = getenv("FAIL_FROM");
	first_process = getpid();
	if (shared != MAP_FAILED)
		asked_for = shared;
}

__attribute__((destructor)) static void failnth_end(void)
{
	char text[32];
	const char *path = getenv("FAIL_COUNT");
	if (!path || !asked_for || getpid() != first_process)
		return;
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int len = snprintf(text, sizeof text, "%lu\n", atomic_load(asked_for));
	if (fd < 0 || write(fd, text, (size_t)len) != len)
		_exit(99);
	close(fd);
}

static int is_from(const void *caller)
{
	Dl_info info;
	return !from || (dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, from));
}

static int failnth_now(const void *caller)
{
	if (!asked_for || !is_from(caller) || atomic_fetch_add(asked_for, 1) + 1 != nth)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return failnth_now(__builtin_return_address(0)) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return failnth_now(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return failnth_now(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}
