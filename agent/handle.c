#include "handle.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "entries.h"

enum { CLOSE_RANGE = 436, RANGE_UNSHARE = 2, NO_EXEC = 8 /* MFD_NOEXEC_SEAL, Linux 6.3 */ };

static struct {
	int fd_plus_one; /* so that all zero means none */
	bool apart;      /* it is in the agent's own table */
	dev_t dev;
	ino_t ino;
} handles[HANDLE_COUNT];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int apart; /* the thread that has a table of its own, 0 if none */

void handle_lock(void)
{
	pthread_mutex_lock(&lock);
}

void handle_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

static bool is_apart(void)
{
	int thread = atomic_load(&apart);
	return thread && thread == (int)syscall(SYS_gettid);
}

static void close_between(int below, int above)
{
	if (above - below > 1)
		syscall(CLOSE_RANGE, below + 1, above - 1, 0);
}

static int kept[2]; /* the pipe's, the lower first */

static bool close_entry(const char *name, void *unused)
{
	int fd = atoi(name);
	(void)unused;
	if (*name != '.' && fd != kept[0] && fd != kept[1] && fd != handle_fd(HANDLE_BRIEF))
		close(fd);
	return true;
}

/* Before Linux 5.9, where all is copied first. Without /proc nobody could tell what to close. */
static bool copy_and_close(void)
{
	if (access("/proc/thread-self/fd", X_OK) != 0 || unshare(CLONE_FILES) != 0)
		return false;
	int fd = handle_open(HANDLE_BRIEF, "/proc/thread-self/fd", O_RDONLY | O_DIRECTORY);
	bool closed = fd >= 0 && entries_read(fd, close_entry, NULL) == 0;
	handle_close(HANDLE_BRIEF);
	return closed;
}

/* close_range copies nothing that it would close above the pipe: of the program's files the fewest are closed again. */
bool handle_part(void)
{
	int a = handle_fd(HANDLE_WAKE_READ), b = handle_fd(HANDLE_WAKE_WRITE);
	bool has_pipe = a >= 0 && b >= 0;
	kept[0] = !has_pipe ? -1 : a < b ? a : b;
	kept[1] = !has_pipe ? -1 : a < b ? b : a;
	if (syscall(CLOSE_RANGE, kept[1] + 1, ~0u, RANGE_UNSHARE) == 0) {
		close_between(kept[0], kept[1]);
		close_between(-1, kept[0]);
	} else if (!copy_and_close()) {
		return false;
	}
	atomic_store(&apart, (int)syscall(SYS_gettid));
	return true;
}

bool handle_keep(int slot, int fd)
{
	struct stat st;
	handles[slot].fd_plus_one = 0;
	if (fd < 0)
		return false;
	handles[slot].apart = is_apart();
	if (!handles[slot].apart && fstat(fd, &st) != 0) {
		close(fd);
		return false;
	}
	if (!handles[slot].apart) {
		handles[slot].dev = st.st_dev;
		handles[slot].ino = st.st_ino;
	}
	handles[slot].fd_plus_one = fd + 1;
	return true;
}

int handle_fd(int slot)
{
	int fd = handles[slot].fd_plus_one - 1;
	struct stat st;
	if (fd < 0)
		return -1;
	if (handles[slot].apart)
		return is_apart() ? fd : -1;
	if (fstat(fd, &st) != 0)
		return -1;
	return st.st_dev == handles[slot].dev && st.st_ino == handles[slot].ino ? fd : -1;
}

int handle_open(int slot, const char *path, int flags)
{
	handle_close(slot);
	int fd = open(path, flags | O_CLOEXEC, 0600), error = errno;
	bool is_kept = handle_keep(slot, fd);
	errno = error;
	return is_kept ? fd : -1;
}

int handle_memory(int slot, const char *name, unsigned flags)
{
	handle_close(slot);
	handle_lock();
	int fd = memfd_create(name, MFD_CLOEXEC | NO_EXEC | flags);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, MFD_CLOEXEC | flags);
	int error = errno;
	bool is_kept = handle_keep(slot, fd);
	handle_unlock();
	errno = error;
	return is_kept ? fd : -1;
}

void handle_move(int from, int to)
{
	handles[to] = handles[from];
	handles[from].fd_plus_one = 0;
}

/* First closed, then forgotten: of a child that is forked between the two, handle_forked() sees that it is not there.
 */
void handle_close(int slot)
{
	int fd = handle_fd(slot);
	if (fd >= 0)
		close(fd);
	handles[slot].fd_plus_one = 0;
}

void handle_forked(void)
{
	atomic_store(&apart, 0);
	for (int slot = 0; slot < HANDLE_COUNT; slot++)
		handle_close(slot);
	handle_unlock();
}
