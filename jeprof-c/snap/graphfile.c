#include "snap/graphfile.h"

#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

/* No Ruby has as much; a process that goes on and on is not read for ever. */
static const uint64_t most_graph_bytes = UINT64_C(4) << 30;

enum { piece_bytes = 1 << 18 };

/* Returns a reason, NULL at the end of the pipe. The last bytes of all are in `last`. */
static const char *copy_graph(int fd, FILE *to, int64_t end, char last[4])
{
	static char piece[piece_bytes];
	uint64_t all = 0;
	for (;;) {
		struct pollfd readable = { .fd = fd, .events = POLLIN };
		int64_t left = end - jp_clock_ms();
		if (left <= 0 || poll(&readable, 1, (int)left) == 0)
			return "it took too long; give more with --timeout";
		ssize_t n = read(fd, piece, sizeof piece);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return strerror(errno);
		if (n == 0)
			return NULL;
		all += (uint64_t)n;
		if (all > most_graph_bytes)
			return "it has more than 4 GB";
		size_t tail = n < 4 ? (size_t)n : 4;
		memmove(last, last + tail, 4 - tail);
		memcpy(last + 4 - tail, piece + n - tail, tail);
		if (fwrite(piece, 1, (size_t)n, to) != (size_t)n)
			return "there is no room for it in /tmp";
	}
}

FILE *graph_file_take(int fd, unsigned milliseconds, const char **why)
{
	char last[4] = "";
	FILE *file = tmpfile();
	*why = file ? copy_graph(fd, file, jp_clock_ms() + milliseconds, last) : "no file can be made in /tmp";
	close(fd);
	if (!*why && memcmp(last, "end\n", 4) != 0)
		*why = "its child ended before it was whole: the memory that it took was needed, or the process ended";
	if (!*why && (fflush(file) || lseek(fileno(file), 0, SEEK_SET) != 0))
		*why = "there is no room for it in /tmp";
	if (*why && file) {
		fclose(file);
		file = NULL;
	}
	return file;
}
