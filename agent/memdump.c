#include "memdump.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "errno_text.h"
#include "handle.h"
#include "jemalloc.h"
#include "memory.h"
#include "whole.h"

enum {
	SIZE_MAX_MB = 64,
	SHARE = 4,        /* of what is left */
	MAPS = 256 << 10, /* what a dump ends with */
	BLOCK = 64 << 10,
	ALL_SEALS = 1 | 2 | 4 | 8 /* F_SEAL_SEAL, SHRINK, GROW, WRITE */
};

static char why[160];
static uint64_t last_size;

const char *memdump_open(int slot)
{
	if (handle_memory(slot, "jprof-dump", MFD_ALLOW_SEALING) >= 0)
		return NULL;
	snprintf(why, sizeof why, "memfd_create: %s", errno_text(errno));
	return why;
}

/* docs/internals/design.md has where 3/2 comes from. */
static uint64_t expected_size(void)
{
	uint64_t size = (uint64_t)jemalloc_internal() / 2 * 3 + MAPS;
	return size > last_size ? size : last_size;
}

const char *memdump_refusal(void)
{
	uint64_t size = expected_size(), left = memory_left();
	if (size >= (uint64_t)SIZE_MAX_MB << 20)
		snprintf(why, sizeof why, "a dump of about %llu MB is expected, and memory is only used below %d MB",
		         (unsigned long long)(size >> 20), SIZE_MAX_MB);
	else if (size >= left / SHARE)
		snprintf(why, sizeof why, "a dump of about %llu KB is expected, and only %llu KB of memory are left",
		         (unsigned long long)(size >> 10), (unsigned long long)(left >> 10));
	else
		return NULL;
	return why;
}

void memdump_note_size(int fd)
{
	struct stat st;
	if (fstat(fd, &st) == 0)
		last_size = (uint64_t)st.st_size;
}

const char *memdump_write(int slot)
{
	char path[64];
	int fd = handle_fd(slot);
	snprintf(path, sizeof path, HANDLE_PATH, fd);
	if (access(path, W_OK) != 0) {
		snprintf(why, sizeof why, "%s: %s; is /proc mounted?", path, errno_text(errno));
		return why;
	}
	int error = jemalloc_dump(path);
	if (!error && whole_dump(fd)) {
		memdump_note_size(fd);
		return NULL;
	}
	snprintf(why, sizeof why, "jemalloc did not finish a dump in memory%s%s", error ? ": " : "",
	         error ? errno_text(error) : "");
	return why;
}

bool memdump_seal(int slot)
{
	return fcntl(handle_fd(slot), F_ADD_SEALS, ALL_SEALS) == 0;
}

int memdump_copy(int slot, int file)
{
	static char block[BLOCK];
	int fd = handle_fd(slot);
	off_t at = 0;
	ssize_t len;
	while ((len = pread(fd, block, sizeof block, at)) > 0) {
		ssize_t n = write(file, block, (size_t)len);
		if (n < 0 && errno != EINTR)
			return errno;
		at += n > 0 ? n : 0;
	}
	return len < 0 ? errno : 0;
}

void memdump_forked(void)
{
	last_size = 0;
}
