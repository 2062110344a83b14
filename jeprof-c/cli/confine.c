#include "cli/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* Not in every libc; the numbers are the kernel's for all architectures. */
enum { nr_close_range = 436, nr_landlock_create_ruleset = 444, nr_landlock_restrict_self = 446 };

/* The machine whose numbers SYS_... are; 0: one that is not known here. And where a system call's arguments and its
 * result are in the context of a signal. */
#if defined(__x86_64__) && !defined(__ILP32__)
enum {
	own_machine = (int)AUDIT_ARCH_X86_64,
	in_result = REG_RAX,
	in_first = REG_RDI,
	in_second = REG_RSI,
	in_third = REG_RDX
};
#define CALL_REGISTER(context, which) ((context)->uc_mcontext.gregs[which])
#elif defined(__aarch64__) && !defined(__ILP32__)
enum { own_machine = (int)AUDIT_ARCH_AARCH64, in_result = 0, in_first = 0, in_second = 1, in_third = 2 };
#define CALL_REGISTER(context, which) ((context)->uc_mcontext.regs[which])
#else
enum { own_machine = 0, in_result = 0, in_first = 0, in_second = 0, in_third = 0 };
#define CALL_REGISTER(context, which) (*(long *)(context))
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

/* Whether root may become another user, and still end a process that did. */
static bool may_change_user(void)
{
	enum { wanted = 1 << CAP_SETUID | 1 << CAP_SETGID | 1 << CAP_KILL };
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { 0 };
	return !syscall(SYS_capget, &header, data) && (data[0].effective & wanted) == wanted;
}

/* Whether this process is not root's, or is not any more. */
static bool leave_root(void)
{
	const uid_t nobody = 65534;
	if (geteuid() && getuid())
		return true;
	return may_change_user() && !setgroups(0, NULL) && !setresgid(nobody, nobody, nobody) &&
	       !setresuid(nobody, nobody, nobody);
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
static bool forbid_files(void)
{
	const uint64_t all_rights = (1u << 13) - 1;
	int rules = (int)syscall(nr_landlock_create_ruleset, &all_rights, sizeof all_rights, 0);
	if (rules < 0)
		return false;
	bool done = !syscall(nr_landlock_restrict_self, rules, 0);
	close(rules);
	return done;
}

static bool has_landlock(void)
{
	return syscall(nr_landlock_create_ruleset, NULL, (size_t)0, 1) > 0;
}

/* ---- seccomp ------------------------------------------------------------------------------------ */

/* What memory, descriptors that are open, time, chance and the end of a process take. None takes a path. */
static const int allowed_calls[] = {
	SYS_read,      SYS_pread64,       SYS_write,        SYS_writev,         SYS_recvmsg,     SYS_recvfrom,
	SYS_sendmsg,   SYS_sendto,        SYS_close,        SYS_lseek,          SYS_fstat,       SYS_munmap,
	SYS_mremap,    SYS_madvise,       SYS_brk,          SYS_futex,          SYS_getrandom,   SYS_rt_sigreturn,
	SYS_getpid,    SYS_gettid,        SYS_sigaltstack,  SYS_rt_sigprocmask, SYS_sched_yield, SYS_rt_sigaction,
	SYS_getrusage, SYS_clock_gettime, SYS_gettimeofday, SYS_sysinfo,        SYS_exit,        SYS_exit_group,
};

/* Allowed where an argument has these bits, of those in the mask. RLIMIT_DATA counts private memory that can be
 * written, but no stack, and not what cannot be written any more. */
static const struct {
	int call;
	unsigned argument, mask, bits;
} allowed_so[] = {
	{ SYS_mmap, 3, 0x0f | MAP_GROWSDOWN, MAP_PRIVATE }, /* 0x0f: shared, private or both */
	{ SYS_mprotect, 2, PROT_WRITE, PROT_WRITE },
};

enum {
	allowed_count = sizeof allowed_calls / sizeof *allowed_calls,
	allowed_so_count = sizeof allowed_so / sizeof *allowed_so,
	lines_for_bits = 6,
};

/* fstat of glibc 2.33 to 2.38 is newfstatat with an empty path. A filter sees the path's address, and not whether it is
 * empty; who can write memory can write there, too. So the kernel never does that call here: it sends SIGSYS, and this
 * answers with fstat. */
static void answer_fstatat(int number, siginfo_t *info, void *context)
{
	ucontext_t *u = context;
	const char *path = (const char *)CALL_REGISTER(u, in_second);
	int kept = errno;
	(void)number;
	(void)info;
	bool good = path && !*path && !syscall(SYS_fstat, CALL_REGISTER(u, in_first), CALL_REGISTER(u, in_third));
	CALL_REGISTER(u, in_result) = good ? 0 : path && !*path ? -errno : -EPERM;
	errno = kept;
}

static const struct sock_filter filter_allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
static const struct sock_filter filter_refuse = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);

static struct sock_filter filter_load(size_t offset)
{
	return (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (unsigned)offset);
}

/* Goes on there, so many lines further, where what was loaded is `value`, or is not. */
static struct sock_filter filter_jump(unsigned value, size_t equal, size_t other)
{
	return (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, (unsigned char)equal,
	                                    (unsigned char)other);
}

static size_t add_allowed_so(struct sock_filter *filter)
{
	size_t n = 0;
	for (size_t i = 0; i < allowed_so_count; i++) {
		filter[n++] = filter_jump((unsigned)allowed_so[i].call, 0, lines_for_bits - 1);
		filter[n++] = filter_load(offsetof(struct seccomp_data, args) + 8 * allowed_so[i].argument);
		filter[n++] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_AND | BPF_K, allowed_so[i].mask);
		filter[n++] = filter_jump(allowed_so[i].bits, 0, 1);
		filter[n++] = filter_allow;
		filter[n++] = filter_refuse;
	}
	return n;
}

static bool forbid_calls(void)
{
	const struct sigaction answers = { .sa_sigaction = answer_fstatat, .sa_flags = SA_SIGINFO };
	struct sock_filter filter[allowed_count + lines_for_bits * allowed_so_count + 16];
	size_t n = 0;
	filter[n++] = filter_load(offsetof(struct seccomp_data, arch));
	filter[n++] = filter_jump((unsigned)own_machine, 1, 0);
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	filter[n++] = filter_load(offsetof(struct seccomp_data, nr));
	n += add_allowed_so(filter + n);
	filter[n++] = filter_jump(SYS_newfstatat, 0, 1);
	filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP);
	for (size_t i = 0; i < allowed_count; i++) /* each leads to the last line */
		filter[n++] = filter_jump((unsigned)allowed_calls[i], allowed_count - i, 0);
	filter[n++] = filter_refuse;
	filter[n++] = filter_allow;
	const struct sock_fprog program = { .len = (unsigned short)n, .filter = filter };
	return own_machine != 0 && !sigaction(SIGSYS, &answers, NULL) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* A filter that cannot be read is refused as such where there are filters. */
static bool has_seccomp(void)
{
	return own_machine != 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) && errno == EFAULT;
}

/* ---- all of it ---------------------------------------------------------------------------------- */

struct confine_walls confine_self(int parent)
{
	struct confine_walls walls = { .other_user = leave_root() };
	prctl(PR_SET_PDEATHSIG, SIGKILL); /* a change of the user takes it back */
	if (getppid() != parent)
		_exit(0);
	prctl(PR_SET_DUMPABLE, 0);
	(void)confine_capabilities(0);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	walls.files = forbid_files();
	walls.calls = forbid_calls();
	return walls;
}

const char *confine_kinds(void)
{
	static const char *const kinds[] = { "none", "landlock", "seccomp", "seccomp and landlock" };
	return kinds[(has_seccomp() ? 2 : 0) + (has_landlock() ? 1 : 0)];
}
