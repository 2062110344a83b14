/* What a process gives up that reads what others wrote. All of it is Linux's; what a kernel does not have is left out.
 */
#ifndef JEPROF_CONFINE_H
#define JEPROF_CONFINE_H

#include <stdbool.h>
#include <stdint.h>

/* Closes all descriptors above this one. */
void confine_close_above(int last);

/* Keeps these capabilities at most, and reads back that it is so. 0, or -1 with errno set. */
int confine_capabilities(uint64_t keep);

/* Limits this process to `bytes` of memory beyond what it has (RLIMIT_DATA: files may be mapped) and `seconds` of CPU
 * time in all, without a core file. */
void confine_resources(uint64_t bytes, unsigned seconds);

/* From here on this process can do nothing but read and write what it has open, take memory and end: no capabilities,
 * no new rights, no other process may look into it; landlock allows it no file, and seccomp refuses all else. It ends
 * with the process `parent`. */
void confine_self(int parent);

/* Which of the latter two this kernel has: "seccomp and landlock", "seccomp", "landlock" or "none". */
const char *confine_kinds(void);

#endif
