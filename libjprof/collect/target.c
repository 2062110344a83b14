#include "collect/target.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "collect/procfs.h"

const char *jp_target_path_into(char path[4096], const struct jprof_target *t, const char *name)
{
	jp_proc_path(t->proc, t->pid, name, path, 4096);
	return path;
}

/* Not in every libc; the numbers are the kernel's for all architectures. */
enum { nr_pidfd_send_signal = 424, nr_pidfd_open = 434 };

static bool target_has_ended(const struct jprof_target *t)
{
	struct pollfd poll_fd = { .fd = t->pidfd, .events = POLLIN };
	return t->pidfd >= 0 && poll(&poll_fd, 1, 0) > 0;
}

int jprof_target_check(const struct jprof_target *t, struct jprof_error *err)
{
	if (jp_null(err, t))
		return JPROF_E_ARGUMENT;
	errno = ESRCH;
	uint64_t now = target_has_ended(t) ? 0 : jp_proc_start_ticks(t->proc, t->pid);
	if (now && now != t->start_ticks)
		return jp_error(err, JPROF_E_IO, NULL, 0, "process %d: has ended, and another has its pid", t->pid);
	return now ? 0 : jp_proc_error(err, t->pid, errno);
}

int jprof_target_open(const struct jprof_process *process, const char *proc, struct jprof_target **out,
                      struct jprof_error *err)
{
	if (jp_null(err, process, out))
		return JPROF_E_ARGUMENT;
	if (process->error)
		return jp_proc_error(err, process->pid, process->error);
	if (process->state != JPROF_PROCESS_ALIVE) {
		if (process->state == JPROF_PROCESS_ZOMBIE)
			return jp_error(err, JPROF_E_IO, NULL, 0,
			                "process %d: has ended (a zombie): its parent, process %d, has not yet noticed",
			                process->pid, process->ppid);
		return jp_error(err, JPROF_E_IO, NULL, 0, "process %d: there is no such process", process->pid);
	}
	struct jprof_target *t = calloc(1, sizeof *t);
	if (!t)
		return jp_error_nomem(err);
	*t = (struct jprof_target){ .pid = process->pid,
		                    .ns_pid = process->ns_pid,
		                    .uid = process->uid,
		                    .start_ticks = process->start_ticks,
		                    .proc = strdup(proc ? proc : "/proc") };
	t->pidfd = (int)syscall(nr_pidfd_open, t->pid, 0);
	int rc = t->proc ? jprof_target_check(t, err) : jp_error_nomem(err);
	if (rc) {
		jprof_target_free(t);
		return rc;
	}
	*out = t;
	return 0;
}

int jprof_target_signal(const struct jprof_target *t, int signal, struct jprof_error *err)
{
	if (jp_null(err, t))
		return JPROF_E_ARGUMENT;
	if (t->pidfd < 0)
		return jp_advise(err, JPROF_ADVICE_NO_SIGNAL,
		                 jp_error(err, JPROF_E_UNSUPPORTED, NULL, 0,
		                          "process %d: this kernel has no pidfd, without which a signal may reach "
		                          "another process",
		                          t->pid));
	int rc = jprof_target_check(t, err);
	if (rc)
		return rc;
	if (!syscall(nr_pidfd_send_signal, t->pidfd, signal, NULL, 0))
		return 0;
	if (errno == ESRCH)
		return jp_proc_error(err, t->pid, ESRCH);
	return jp_error(err, JPROF_E_IO, NULL, 0, "process %d: cannot be sent signal %d: %s", t->pid, signal,
	                strerror(errno));
}

void jprof_target_free(struct jprof_target *t)
{
	if (!t)
		return;
	jp_file_close(&t->pidfd);
	free(t->groups);
	free(t->proc);
	free(t);
}
