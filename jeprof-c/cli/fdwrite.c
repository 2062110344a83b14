#include "cli/fdwrite.h"

#include <errno.h>
#include <signal.h>
#include <unistd.h>

static int write_on(int fd, const char *from, size_t len, bool patient)
{
	while (len) {
		ssize_t n = write(fd, from, len);
		if (n < 0 && errno == EINTR && patient)
			continue;
		if (n <= 0)
			return n < 0 ? errno : ENOSPC;
		from += n;
		len -= (size_t)n;
	}
	return 0;
}

int fd_write(int fd, const void *data, size_t len, bool patient)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	sigemptyset(&ignore.sa_mask);
	sigaction(SIGXFSZ, &ignore, &before);
	int error = write_on(fd, data, len, patient);
	sigaction(SIGXFSZ, &before, NULL);
	return error;
}
