#include "cli/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not in every libc; the numbers are the kernel's for all architectures. */
enum { nr_close_range = 436, nr_landlock_create_ruleset = 444, nr_landlock_restrict_self = 446 };

/* The machine whose numbers SYS_... are; 0: one that is not known here. */
#if defined(__x86_64__) && !defined(__ILP32__)
enum { own_machine = (int)AUDIT_ARCH_X86_64 };
#elif defined(__aarch64__) && !defined(__ILP32__)
enum { own_machine = (int)AUDIT_ARCH_AARCH64 };
#else
enum { own_machine = 0 };
#endif

/* ---- descriptors and rights --------------------------------------------------------------------- */

void confine_close_above(int last)
{
	enum { usual_limit = 65536 };
	bool done = !syscall(nr_close_range, (unsigned)last + 1, ~0U, 0);
	for (int fd = last + 1; !done && fd < usual_limit; fd++)
		close(fd);
}

int confine_capabilities(uint64_t keep)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 }, back[2];
	for (int i = 0; i < 2; i++)
		data[i].effective = data[i].permitted = (uint32_t)(keep >> (32 * i));
	if (syscall(SYS_capset, &header, data) || syscall(SYS_capget, &header, back))
		return -1;
	if (!memcmp(data, back, sizeof data))
		return 0;
	errno = EPERM;
	return -1;
}

/* ---- limits ------------------------------------------------------------------------------------- */

static void limit_to(int resource, rlim_t most)
{
	struct rlimit limit;
	if (getrlimit(resource, &limit))
		return;
	limit.rlim_max = most < limit.rlim_max ? most : limit.rlim_max;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(resource, &limit);
}

/* What RLIMIT_DATA counts of this process now, in bytes. */
static uint64_t counted_data(void)
{
	char text[256];
	unsigned long long pages = 0;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	sscanf(text, "%*s %*s %*s %*s %*s %llu", &pages);
	if (fd >= 0)
		close(fd);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

void confine_resources(uint64_t bytes, unsigned seconds)
{
	uint64_t now = counted_data();
	if (now && bytes < INT64_MAX - now)
		limit_to(RLIMIT_DATA, now + bytes);
	limit_to(RLIMIT_CPU, seconds);
	limit_to(RLIMIT_CORE, 0);
}

/* ---- landlock ----------------------------------------------------------------------------------- */

/* All rights to files of its first version are handled, and none is given. */
static void forbid_files(void)
{
	const uint64_t all_rights = (1u << 13) - 1;
	int rules = (int)syscall(nr_landlock_create_ruleset, &all_rights, sizeof all_rights, 0);
	if (rules < 0)
		return;
	(void)syscall(nr_landlock_restrict_self, rules, 0);
	close(rules);
}

static bool has_landlock(void)
{
	return syscall(nr_landlock_create_ruleset, NULL, (size_t)0, 1) > 0;
}

/* ---- seccomp ------------------------------------------------------------------------------------ */

/* What memory, descriptors that are open, time, chance and the end of a process take. None takes a path but newfstatat,
 * which is allowed for descriptors alone. */
static const int allowed_calls[] = {
	SYS_read,      SYS_pread64,       SYS_write,        SYS_writev,         SYS_recvmsg,     SYS_recvfrom,
	SYS_sendmsg,   SYS_sendto,        SYS_close,        SYS_lseek,          SYS_fstat,       SYS_mmap,
	SYS_munmap,    SYS_mremap,        SYS_mprotect,     SYS_madvise,        SYS_brk,         SYS_futex,
	SYS_getrandom, SYS_rt_sigreturn,  SYS_rt_sigaction, SYS_rt_sigprocmask, SYS_sigaltstack, SYS_getpid,
	SYS_gettid,    SYS_clock_gettime, SYS_gettimeofday, SYS_sched_yield,    SYS_sysinfo,     SYS_getrusage,
	SYS_exit,      SYS_exit_group,
};

enum {
	allowed_count = sizeof allowed_calls / sizeof *allowed_calls,
	only_of_descriptors = 0x1000, /* AT_EMPTY_PATH */
};

static bool forbid_calls(void)
{
	struct sock_filter filter[allowed_count + 16];
	unsigned short n = 0;
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch));
	filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)own_machine, 1, 0);
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < allowed_count; i++) /* each leads to the last line but four */
		filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed_calls[i],
		                                           (unsigned char)(allowed_count - i + 3), 0);
	filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_newfstatat, 0, 2);
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[3]));
	filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, only_of_descriptors, 1, 0);
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	const struct sock_fprog program = { .len = n, .filter = filter };
	return own_machine != 0 && !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* A filter that cannot be read is refused as such where there are filters. */
static bool has_seccomp(void)
{
	return own_machine != 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) && errno == EFAULT;
}

/* ---- all of it ---------------------------------------------------------------------------------- */

void confine_self(int parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	prctl(PR_SET_DUMPABLE, 0);
	(void)confine_capabilities(0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	forbid_files();
	(void)forbid_calls();
}

const char *confine_kinds(void)
{
	static const char *const kinds[] = { "none", "landlock", "seccomp", "seccomp and landlock" };
	return kinds[(has_seccomp() ? 2 : 0) + (has_landlock() ? 1 : 0)];
}
