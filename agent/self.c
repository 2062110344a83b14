#include "self.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "handle.h"
#include "textbuf.h"

static char program[64];
static unsigned long long start_ticks;

void self_init(void)
{
	const char *name = program_invocation_short_name;
	strncpy(program, name ? name : "", sizeof program - 1);
}

const char *self_program(void)
{
	return program;
}

ssize_t self_read_file(const char *path, char *buf, size_t size)
{
	int fd = handle_open(HANDLE_BRIEF, path, O_RDONLY);
	if (fd < 0)
		return -1;
	ssize_t len = read(fd, buf, size - 1);
	handle_close(HANDLE_BRIEF);
	buf[len < 0 ? 0 : len] = 0;
	return len;
}

/* Field 22 of stat; the second, the name in brackets, may hold anything. */
static unsigned long long ticks_of(const char *stat)
{
	const char *field = strrchr(stat, ')');
	for (int i = 2; field && i < 22; i++) {
		field = strchr(field, ' ');
		field = field ? field + 1 : NULL;
	}
	return field ? strtoull(field, NULL, 10) : 0;
}

void self_read(void)
{
	char stat[1024];
	start_ticks = self_read_file("/proc/self/stat", stat, sizeof stat) > 0 ? ticks_of(stat) : 0;
}

static void read_anywhere(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len = fd >= 0 ? read(fd, buf, size - 1) : -1;
	if (fd >= 0)
		close(fd);
	buf[len < 0 ? 0 : len] = 0;
}

void self_process(struct textbuf *text)
{
	char stat[1024], boot_id[64];
	read_anywhere("/proc/self/stat", stat, sizeof stat);
	read_anywhere("/proc/sys/kernel/random/boot_id", boot_id, sizeof boot_id);
	boot_id[strcspn(boot_id, "\n")] = 0;
	textbuf_printf(text, "%d %llu %s", (int)getpid(), ticks_of(stat), *boot_id ? boot_id : "-");
}

void self_json(struct textbuf *text)
{
	char boot_id[64];
	ssize_t len = self_read_file("/proc/sys/kernel/random/boot_id", boot_id, sizeof boot_id);
	boot_id[strcspn(len > 0 ? boot_id : "", "\n")] = 0;
	textbuf_printf(text, "\"pid\":%d,\"start_ticks\":%llu,\"boot_id\":", (int)getpid(), start_ticks);
	textbuf_json(text, len > 0 ? boot_id : NULL);
	textbuf_str(text, ",\"program\":");
	textbuf_json(text, program);
}

uint64_t self_clock(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}
