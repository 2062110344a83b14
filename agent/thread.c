#include "thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory.h"

/* A dump takes 28 KiB of the stack, in which jemalloc 5.3's statistics go deepest (Debian 12, resident pages). */
enum { ROOM = 128 << 10, FIRST_SIZE = 256 << 10, GUARD = 64 << 10, LAST_SIZE = 1 << 30 };

static char *stack; /* above GUARD bytes that nobody may touch; NULL: none yet */
static size_t stack_size;
static size_t least; /* what glibc takes for itself, 0: not known */

/* glibc's own word for what it takes, static TLS among it, which no public function tells. */
void thread_init(void)
{
	size_t (*minimum)(const pthread_attr_t *) = NULL;
	void *found = dlsym(RTLD_DEFAULT, "__pthread_get_minstack");
	pthread_attr_t attr;
	*(void **)&minimum = found;
	if (!minimum || pthread_attr_init(&attr) != 0)
		return;
	least = minimum(&attr);
	pthread_attr_destroy(&attr);
}

/* A stack of the agent's own, for then its end is known. */
static int map_stack(size_t size)
{
	char *mapped =
	    mmap(NULL, GUARD + size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (mapped == MAP_FAILED)
		return errno;
	if (mprotect(mapped + GUARD, size, PROT_READ | PROT_WRITE) != 0) {
		int error = errno;
		munmap(mapped, GUARD + size);
		return error;
	}
	stack = mapped + GUARD;
	stack_size = size;
	return 0;
}

static void unmap_stack(void)
{
	if (stack)
		munmap(stack - GUARD, GUARD + stack_size);
	stack = NULL;
}

static int create_thread(void *(*run)(void *))
{
	pthread_attr_t attr;
	pthread_t thread;
	sigset_t all, old;
	int error = pthread_attr_init(&attr);
	if (error)
		return error;
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	error = pthread_attr_setstack(&attr, stack, stack_size);
	if (!error) {
		sigfillset(&all);
		pthread_sigmask(SIG_SETMASK, &all, &old);
		error = pthread_create(&thread, &attr, run, NULL);
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	}
	pthread_attr_destroy(&attr);
	return error;
}

/* EINVAL means a stack that is too small: where glibc does not tell how much it takes, larger ones are tried. */
int thread_start(void *(*run)(void *))
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (FIRST_SIZE + least + page - 1) / page * page;
	int error = 0;
	if (!stack)
		error = map_stack(size);
	while (!error && (error = create_thread(run)) == EINVAL && size < LAST_SIZE) {
		unmap_stack();
		size *= 2;
		error = map_stack(size);
	}
	if (error)
		unmap_stack();
	return error;
}

/* A thread's first call of jemalloc makes it an arena: 2 MiB, and as much again where they must be aligned; without,
 * 5.3 goes through NULL. A dump takes some more, and so does the program meanwhile. */
const char *thread_refusal(void)
{
	enum { SPARE = 64 << 20 };
	if (memory_addresses_left() >= SPARE)
		return NULL;
	return "ulimit -v leaves less than 64 MiB of address space, and the program may need all of it; raise it";
}

bool thread_has_room(void)
{
	char here;
	uintptr_t at = (uintptr_t)&here, end = (uintptr_t)stack;
	return at < end || at - end >= stack_size || at - end >= ROOM;
}
