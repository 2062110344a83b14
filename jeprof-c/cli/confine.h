/* What a process gives up that reads what others wrote. All of it is Linux's; what a kernel does not have is left out.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Closes all descriptors above this one. */
void confine_close_above(int last);

/* Keeps these capabilities at most, and reads back that it is so. 0, or -1 with errno set. */
int confine_capabilities(uint64_t keep);

/* Limits this process to `bytes` of memory beyond what it has (RLIMIT_DATA: files may be mapped) and `seconds` of CPU
 * time in all, without a core file. */
void confine_resources(uint64_t bytes, unsigned seconds);

/* What a process could give up. */
struct confine_walls {
	bool calls;      /* seccomp allows no other system calls */
	bool files;      /* landlock allows no file */
	bool other_user; /* it is not root's */
};

/* From here on this process can do nothing but read and write what it has open, take memory and end: no capabilities,
 * no new rights, no other process may look into it; landlock allows it no file, and seccomp refuses all else. Root's
 * becomes uid 65534. It ends with the process `parent`. */
struct confine_walls confine_self(int parent);

/* Which of landlock and seccomp this kernel has: "seccomp and landlock", "seccomp", "landlock" or "none". */
const char *confine_kinds(void);
