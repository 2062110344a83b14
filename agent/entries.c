#include "entries.h"

#include <errno.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

struct kernel_dirent {
	uint64_t ino;
	int64_t off;
	unsigned short len;
	unsigned char type;
	char name[];
};

int entries_read(int fd, bool (*each)(const char *name, void *arg), void *arg)
{
	static _Alignas(8) char block[16 << 10];
	for (;;) {
		long len = syscall(SYS_getdents64, fd, block, sizeof block);
		if (len <= 0)
			return len < 0 ? errno : 0;
		for (long at = 0; at < len;) {
			const struct kernel_dirent *entry = (const void *)(block + at);
			if (!each(entry->name, arg))
				return 0;
			at += entry->len;
		}
	}
}
