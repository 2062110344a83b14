/* deny CALL COMMAND...: runs it where the kernel refuses that system call with EPERM, as a container's filter does. */
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int number_of(const char *name)
{
	static const struct {
		const char *name;
		int number;
	} calls[] = { { "memfd_create", SYS_memfd_create }, { "socket", SYS_socket }, { "bind", SYS_bind } };
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if (strcmp(calls[i].name, name) == 0)
			return calls[i].number;
	return -1;
}

int main(int argc, char **argv)
{
	int call = argc > 2 ? number_of(argv[1]) : -1;
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
	if (call < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
		perror("deny");
		return 77;
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 1;
}
