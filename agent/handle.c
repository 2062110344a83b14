#include "handle.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
	int fd_plus_one; /* so that all zero means none */
	dev_t dev;
	ino_t ino;
} handles[HANDLE_COUNT];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void handle_lock(void)
{
	pthread_mutex_lock(&lock);
}

void handle_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

bool handle_keep(int slot, int fd)
{
	struct stat st;
	handles[slot].fd_plus_one = 0;
	if (fd < 0)
		return false;
	if (fstat(fd, &st) != 0) {
		close(fd);
		return false;
	}
	handles[slot].dev = st.st_dev;
	handles[slot].ino = st.st_ino;
	handles[slot].fd_plus_one = fd + 1;
	return true;
}

int handle_fd(int slot)
{
	int fd = handles[slot].fd_plus_one - 1;
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0)
		return -1;
	return st.st_dev == handles[slot].dev && st.st_ino == handles[slot].ino ? fd : -1;
}

int handle_open(int slot, const char *path, int flags)
{
	handle_close(slot);
	handle_lock();
	int fd = open(path, flags | O_CLOEXEC), error = errno;
	bool kept = handle_keep(slot, fd);
	handle_unlock();
	errno = error;
	return kept ? fd : -1;
}

static void close_slot(int slot)
{
	int fd = handle_fd(slot);
	handles[slot].fd_plus_one = 0;
	if (fd >= 0)
		close(fd);
}

void handle_close(int slot)
{
	handle_lock();
	close_slot(slot);
	handle_unlock();
}

void handle_forked(void)
{
	for (int slot = 0; slot < HANDLE_COUNT; slot++)
		close_slot(slot);
	handle_unlock();
}
