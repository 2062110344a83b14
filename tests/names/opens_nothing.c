/* opens_nothing OBJECT [DEBUG|-] [SHARED]
 * Finds names of every 16th byte of OBJECT's code in a child that may open nothing: it dies of it. Prints what the
 * DWARF was, and how many places have a function, an inlined function and a line. What the child answers is what this
 * process answers; .dwo files that are wanted are opened here, and asked for again. Exit status 77: no seccomp here. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "input/findnames.h"
#include "input/objfile.h"

enum { most_offsets = 4000, most_files = 64 };

static void die(const char *what)
{
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	exit(1);
}

#define forbid(call)                                                                                                   \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

/* Newer machines have none of them. */
#ifdef SYS_open
#define FORBID_OLD_CALLS forbid(open), forbid(creat),
#else
#define FORBID_OLD_CALLS
#endif

/* Whatever gives a file by its path, or a socket, or another program. */
static void forbid_opening(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		FORBID_OLD_CALLS forbid(openat),
		forbid(openat2),
		forbid(execve),
		forbid(execveat),
		forbid(socket),
		forbid(clone),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { .len = sizeof filter / sizeof *filter, .filter = filter };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0)) {
		printf("no seccomp here: %s\n", strerror(errno));
		fflush(stdout);
		_exit(77);
	}
}

static void answer(const struct jp_name_request *request, int out)
{
	struct jp_strbuf bytes = { 0 };
	forbid_opening();
	if (jp_find_names(request, &bytes))
		_exit(2);
	for (size_t at = 0; at < bytes.len;) {
		ssize_t n = write(out, bytes.text + at, bytes.len - at);
		if (n <= 0)
			_exit(3);
		at += (size_t)n;
	}
	_exit(0);
}

static int wait_for(pid_t child)
{
	int status;
	if (waitpid(child, &status, 0) != child)
		die("waitpid");
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		exit(77);
	return status;
}

static void ask_child(const struct jp_name_request *request, struct jp_strbuf *bytes)
{
	int ends[2];
	char chunk[65536];
	ssize_t n;
	if (pipe(ends))
		die("pipe");
	pid_t child = fork();
	if (!child)
		answer(request, ends[1]);
	close(ends[1]);
	while ((n = read(ends[0], chunk, sizeof chunk)) > 0)
		jp_strbuf_add(bytes, chunk, (size_t)n);
	close(ends[0]);
	int status = wait_for(child);
	if (!status)
		return;
	fprintf(stderr, "the child ended by %s %d\n", WIFSIGNALED(status) ? "signal" : "status",
	        WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	exit(1);
}

/* Else the test could not fail. */
static void check_filter(void)
{
	pid_t child = fork();
	if (!child) {
		forbid_opening();
		_exit(open("/dev/null", O_RDONLY) >= 0);
	}
	int status = wait_for(child);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
		die("a child that opens a file does not die of it");
}

static struct jp_open_file open_file(const char *path)
{
	struct jp_open_file file = { .fd = -1 };
	if (!path || !strcmp(path, "-"))
		return file;
	file.path = path;
	file.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (file.fd < 0)
		die(path);
	return file;
}

static size_t list_offsets(const struct jp_open_file *object, uint64_t *offsets)
{
	struct jp_objfile *file;
	size_t count = 0;
	if (jp_objfile_borrow(object->fd, object->path, &file, NULL))
		die("no object file");
	for (size_t i = 0; i < file->code_count; i++)
		for (uint64_t at = file->code[i].start; at < file->code[i].end && count < most_offsets; at += 16)
			offsets[count++] = at;
	jp_objfile_close(file);
	return count;
}

/* The same question to a child and to this process. */
static void ask(const struct jp_name_request *request, struct jp_namereply *reply)
{
	struct jp_strbuf theirs = { 0 }, ours = { 0 };
	ask_child(request, &theirs);
	if (jp_find_names(request, &ours))
		die("no memory");
	if (theirs.len != ours.len || memcmp(theirs.text, ours.text, ours.len)) {
		fprintf(stderr, "the child answers %zu bytes, this process other %zu\n", theirs.len, ours.len);
		exit(1);
	}
	if (jp_namereply_read(theirs.text, theirs.len, reply)) {
		fprintf(stderr, "the answer cannot be read\n");
		exit(1);
	}
	jp_strbuf_release(&theirs);
	jp_strbuf_release(&ours);
}

/* As written, without any rule. */
static struct jp_split_answer open_want(const struct jp_reply_want *want)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s%s%s", *want->name == '/' ? "" : want->dir, *want->name == '/' ? "" : "/",
	         want->name);
	struct jp_split_answer answer = { .unit = want->unit, .name = strdup(want->name), .count = 1 };
	answer.files[0] = open_file(strdup(path));
	return answer;
}

static void report(const struct jp_namereply *r)
{
	static const char *const states[] = { "none", "used", "refused", "shared-refused" };
	unsigned named = 0, inlined = 0, lines = 0;
	for (uint32_t i = 0; i < r->place_count; i++) {
		const struct jp_reply_place *p = &r->places[i];
		named += p->reason == JP_NAMED;
		inlined += p->frame_count > 1;
		lines += p->frame_count && r->frames[p->frame_first].line;
	}
	printf("%s: %u of %u named, %u inlined, %u lines, %u wanted, %u lost\n", states[r->dwarf], named,
	       r->place_count, inlined, lines, r->want_count, r->loss_count);
}

int main(int argc, char **argv)
{
	static uint64_t offsets[most_offsets];
	static struct jp_split_answer answers[most_files];
	struct jp_namereply reply;
	if (argc < 2)
		return 1;
	check_filter();
	struct jp_name_request request = { .object = open_file(argv[1]),
		                           .debug = open_file(argc > 2 ? argv[2] : NULL),
		                           .shared = open_file(argc > 3 ? argv[3] : NULL),
		                           .offsets = offsets,
		                           .image = true };
	request.dwarf = request.debug.fd < 0 ? JP_DWARF_IN_OBJECT : JP_DWARF_IN_DEBUG;
	request.count = list_offsets(&request.object, offsets);
	ask(&request, &reply);
	report(&reply);
	while (reply.want_count && request.split_count + reply.want_count <= most_files) {
		for (uint32_t i = 0; i < reply.want_count; i++)
			answers[request.split_count++] = open_want(&reply.wants[i]);
		request.splits = answers;
		jp_namereply_release(&reply);
		ask(&request, &reply);
		report(&reply);
	}
	jp_namereply_release(&reply);
	return 0;
}
