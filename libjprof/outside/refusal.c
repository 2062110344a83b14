#include "outside/refusal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/file.h"
#include "collect/procfs.h"
#include "collect/target.h"

enum { reason_most = 256, cap_sys_ptrace = 19 };

/* Effective capabilities of a process; 0 where they cannot be read. */
static uint64_t capabilities_of(const char *proc, int pid)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	struct jp_proc_status status = { 0 };
	if (!jp_proc_read(proc, pid, "status", jp_proc_status_limit, &text))
		jp_proc_status_parse((struct jp_span){ text.text, text.len }, &status);
	return status.effective;
}

/* kernel.yama.ptrace_scope; 0 where the kernel has none. */
static int yama_scope(void)
{
	char digit = '0';
	int jp_cleanup(jp_file_close) fd = open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, &digit, 1) == 1 && digit >= '0' && digit <= '3' ? digit - '0' : 0;
}

/* The files of a process that is not dumpable belong to root. */
static bool hides_itself(const struct jprof_target *t)
{
	struct stat st;
	return t->uid && !stat(jp_target_path(t, "environ"), &st) && st.st_uid != t->uid;
}

/* A process beyond the caller's user namespace does not even say which one it is in: then root's rights there are none
 * here. The first namespace has a number of its own: PROC_USER_INIT_INO of the kernel's include/linux/proc_ns.h. */
static bool in_other_user_namespace(const struct jprof_target *t, bool may)
{
	static const ino_t first = 0xeffffffd;
	struct stat own, other;
	if (may && !stat("/proc/self/ns/user", &own) && own.st_ino != first &&
	    stat(jp_target_path(t, "ns/user"), &other))
		return true;
	return !stat("/proc/self/ns/user", &own) && !stat(jp_target_path(t, "ns/user"), &other) &&
	       (own.st_ino != other.st_ino || own.st_dev != other.st_dev);
}

/* The reason in words, in the order in which the kernel looks. Returns whether root's rights would do. */
static bool find_reason(const struct jprof_target *t, int error, char reason[reason_most])
{
	uint64_t own = capabilities_of("/proc", getpid());
	bool may = own >> cap_sys_ptrace & 1;
	int yama = yama_scope();
	snprintf(reason, reason_most, "%s", strerror(error));
	if (in_other_user_namespace(t, may)) {
		snprintf(reason, reason_most,
		         "it is in another user namespace, where you have no rights: run jprof outside of yours");
		return false;
	}
	if (may && yama == 3) {
		snprintf(reason, reason_most, "this kernel lets nobody (kernel.yama.ptrace_scope is 3)");
		return false;
	}
	if (may)
		return true;
	if (geteuid() != t->uid && geteuid() == 0)
		snprintf(reason, reason_most, "you are root without CAP_SYS_PTRACE, and it is of user %u", t->uid);
	else if (geteuid() != t->uid)
		snprintf(reason, reason_most, "you are user %u, and it is of user %u", geteuid(), t->uid);
	else if (hides_itself(t))
		snprintf(reason, reason_most, "it hides its memory from others of its user (PR_SET_DUMPABLE)");
	else if (capabilities_of(t->proc, t->pid) & ~own)
		snprintf(reason, reason_most, "it has capabilities that you do not have");
	else if (yama)
		snprintf(reason, reason_most, "this kernel lets only root (kernel.yama.ptrace_scope is %d)", yama);
	return true;
}

int jp_refusal(const struct jprof_target *t, int error, struct jprof_error *err)
{
	char reason[reason_most];
	if (jp_proc_is_gone(error) || (error != EACCES && error != EPERM))
		return jp_proc_error(err, t->pid, error);
	bool root_may = find_reason(t, error, reason);
	int rc = jp_error(err, JPROF_E_IO, NULL, 0, "process %d: its memory may not be read: %s", t->pid, reason);
	return root_may ? jp_advise(err, JPROF_ADVICE_MEMORY, rc) : rc;
}
