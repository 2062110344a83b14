/* The files of /proc/PID. A process may end at any moment, and another may get its pid: who reads several
 * files compares start_ticks before and after. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reader.h"
#include "base/strbuf.h"
#include "jprof.h"

/* Adds at most `limit` bytes of PROC/PID/NAME to *out. 0, or an errno: ENOENT and ESRCH mean that there is no
 * such process, ENOMEM may be the caller's own. */
int jp_proc_read(const char *proc, int pid, const char *name, size_t limit, struct jp_strbuf *out) jp_must_check;

/* The target of the link PROC/PID/NAME, such as "exe" or "ns/net". 0 or an errno. */
int jp_proc_link(const char *proc, int pid, const char *name, struct jp_strbuf *out) jp_must_check;

/* PROC/PID/NAME as a path; `path` has `size` bytes. */
void jp_proc_path(const char *proc, int pid, const char *name, char *path, size_t size);

/* Of /proc/PID/stat: the parent and field 22, the start in clock ticks since the machine's. False if the text
 * is none of it. The second field, the program's name, may hold blanks and parentheses. */
struct jp_proc_stat {
	char state; /* 'R', 'S', 'Z' ... */
	int ppid;
	uint64_t start_ticks;
};
bool jp_proc_stat_parse(struct jp_span text, struct jp_proc_stat *stat);

/* No /proc/PID/status is longer, in bytes. */
enum { jp_proc_status_limit = 1 << 20 };

/* Of /proc/PID/status; what is missing (a kernel thread has no memory) is 0. */
struct jp_proc_status {
	char name[64]; /* the program's short name, as the kernel escapes it */
	int tgid;
	int ns_pid;                            /* in the innermost pid namespace; the pid itself before Linux 4.1 */
	unsigned real_uid, uid, real_gid, gid; /* uid and gid: effective */
	uint64_t effective;                    /* capabilities, in its own user namespace */
	uint64_t rss;                          /* bytes */
	uint64_t caught;
};
void jp_proc_status_parse(struct jp_span text, struct jp_proc_status *status);

/* The next word of a line that blanks part, or false. */
bool jp_proc_word(struct jp_span *line, struct jp_span *word);

/* start_ticks of a process now; 0 with errno set if that cannot be read. */
uint64_t jp_proc_start_ticks(const char *proc, int pid);

/* Whether such an errno says that there is no such process. */
bool jp_proc_is_gone(int error);

/* The error for a process of which /proc gives such an errno: it has ended, or why it cannot be looked at. */
int jp_proc_error(struct jprof_error *err, int pid, int error);
