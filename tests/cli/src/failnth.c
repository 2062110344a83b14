/* For LD_PRELOAD: the allocation of the number FAIL_NTH (0: none) fails, of all that the process and its children ask
 * for, libraries and all. At the end the number of those is written to the file FAIL_COUNT. Needs glibc. */
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static atomic_ulong *asked_for;
static unsigned long nth;
static int first_process;

__attribute__((constructor)) static void failnth_begin(void)
{
	const char *number = getenv("FAIL_NTH");
	void *shared = mmap(NULL, sizeof *asked_for, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	nth = number ? strtoul(number, NULL, 10) : 0;
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

static int failnth_now(void)
{
	if (!asked_for || atomic_fetch_add(asked_for, 1) + 1 != nth)
		return 0;
	errno = ENOMEM;
	return 1;
}

void *malloc(size_t size)
{
	return failnth_now() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	return failnth_now() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
	return failnth_now() ? NULL : __libc_realloc(old, size);
}
