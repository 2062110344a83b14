#include "whole.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "handle.h"

enum { WINDOW = 16 << 10 };

static char block[WINDOW + 1];

/* Reads the file's last bytes into block. Returns how many, -1 on an error. */
static ssize_t read_end(int fd)
{
	ssize_t len = -1;
	off_t size = lseek(fd, 0, SEEK_END);
	if (size > 0)
		len = pread(fd, block, WINDOW, size > WINDOW ? size - WINDOW : 0);
	block[len > 0 ? len : 0] = 0;
	return len;
}

/* The end address of the maps line that is the last of block, 0 if that is cut or no such line. */
static unsigned long long last_end(ssize_t len)
{
	char *dash;
	if (len < 2 || block[len - 1] != '\n')
		return 0;
	block[len - 1] = 0;
	char *line = strrchr(block, '\n');
	line = line ? line + 1 : block;
	strtoull(line, &dash, 16);
	return *dash == '-' ? strtoull(dash + 1, NULL, 16) : 0;
}

/* The maps have no size, and must be read to their end. Returns 0 where there are none. */
static unsigned long long end_of_maps(void)
{
	int fd = handle_open(HANDLE_BRIEF, "/proc/self/maps", O_RDONLY);
	ssize_t kept = 0, len;
	if (fd < 0)
		return 0;
	while ((len = read(fd, block + kept, (size_t)(WINDOW - kept))) > 0) {
		kept += len;
		if (kept > WINDOW / 2) {
			memmove(block, block + kept - WINDOW / 4, WINDOW / 4);
			kept = WINDOW / 4;
		}
	}
	handle_close(HANDLE_BRIEF);
	block[kept] = 0;
	return last_end(kept);
}

/* The last mapping's end does not move: mappings are made below it. Without /proc a dump has no maps. */
bool whole_dump(int fd)
{
	unsigned long long end = end_of_maps();
	return end == 0 || last_end(read_end(fd)) == end;
}
