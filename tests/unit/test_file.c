/* Opening files: the user's own, and those that a dump named. Every test runs in a directory of
 * its own; `root` in it stands for a --sysroot, and `secret` beside it must never be reached from there. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "harness.h"

static char base[PATH_MAX];

static void put(const char *path, const char *text)
{
	FILE *out = fopen(path, "w");
	assert_non_null(out);
	assert_true(fputs(text, out) >= 0);
	assert_int_equal(fclose(out), 0);
}

FIXTURE(set_up)
{
	char target[PATH_MAX + 32];
	const char *tmp = getenv("TMPDIR");
	snprintf(base, sizeof base, "%s/jprof-file-XXXXXX", tmp ? tmp : "/tmp");
	alarm(600); /* a FIFO that is opened after all would wait for ever */
	if (!mkdtemp(base) || chdir(base) || mkdir("root", 0700) || mkdir("root/lib", 0700) || mkdir("root/sub", 0700))
		return -1;
	put("root/lib/a.so", "inside");
	put("secret", "outside");
	put("root/sub/plain", "plain");
	snprintf(target, sizeof target, "%s/secret", base);
	return symlink("../lib/a.so", "root/sub/relative") || symlink("/lib/a.so", "root/sub/absolute") ||
	       symlink("/lib", "root/dirlink") || symlink("../../secret", "root/sub/up") ||
	       symlink(target, "root/sub/full") || symlink("loop2", "root/loop1") || symlink("loop1", "root/loop2") ||
	       symlink("self", "root/self") || symlink("nowhere", "root/dangling") ||
	       symlink("/sub/absolute", "root/twice") || symlink("..", "root/dots") || mkfifo("root/fifo", 0600) ||
	       symlink("fifo", "root/to-fifo");
}

FIXTURE(clean_up)
{
	static const char *const files[] = {
		"root/lib/a.so",     "secret",       "root/sub/plain", "root/sub/relative",
		"root/sub/absolute", "root/dirlink", "root/sub/up",    "root/sub/full",
		"root/loop1",        "root/loop2",   "root/self",      "root/dangling",
		"root/twice",        "root/dots",    "root/fifo",      "root/to-fifo",
		"root/lib",          "root/sub",     "root",
	};
	for (size_t i = 0; i < jp_count(files); i++)
		remove(files[i]);
	return chdir("/") || rmdir(base);
}

static const char *errno_name(void)
{
	switch (errno) {
	case EINVAL: return "errno: EINVAL";
	case ELOOP: return "errno: ELOOP";
	case ENAMETOOLONG: return "errno: ENAMETOOLONG";
	case ENOENT: return "errno: ENOENT";
	case ENOTDIR: return "errno: ENOTDIR";
	}
	return strerror(errno);
}

/* What the opened file holds, or why it was not opened. */
static const char *look(const char *root, const char *path)
{
	static char text[64];
	struct stat st;
	int fd = jp_file_open_untrusted((struct jp_root){ .path = root }, path, &st);
	if (fd < 0)
		return errno_name();
	assert_true(S_ISREG(st.st_mode));
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	ssize_t n = read(fd, text, sizeof text - 1);
	jp_file_close(&fd);
	assert_int_equal(fd, -1);
	assert_true(n >= 0);
	text[n] = '\0';
	return text;
}

TEST(test_below_a_root)
{
	static const struct {
		const char *path, *what;
	} cases[] = {
		{ "/lib/a.so", "inside" },
		{ "lib/a.so", "inside" },
		{ "//lib/./a.so", "inside" },
		{ "/sub/relative", "inside" },
		{ "/sub/absolute", "inside" },
		{ "/twice", "inside" },
		{ "/dirlink/a.so", "inside" },
		{ "/dirlink/../sub/plain", "plain" }, /* .. of what the link leads to: root/lib */
		{ "/../../../lib/a.so", "inside" },
		{ "/sub/../../../lib/a.so", "inside" },
		{ "/dots/lib/a.so", "inside" },
		{ "/../secret", "errno: ENOENT" },
		{ "/sub/../../secret", "errno: ENOENT" },
		{ "/sub/up", "errno: ENOENT" },
		{ "/sub/full", "errno: ENOENT" },
		{ "/dots/secret", "errno: ENOENT" },
		{ "/loop1", "errno: ELOOP" },
		{ "/self", "errno: ELOOP" },
		{ "/self/x", "errno: ELOOP" },
		{ "/dangling", "errno: ENOENT" },
		{ "/nothing", "errno: ENOENT" },
		{ "/sub/plain/x", "errno: ENOTDIR" },
		{ "/sub/plain/../plain", "errno: ENOTDIR" },
		{ "/lib", "errno: EINVAL" },
		{ "/", "errno: EINVAL" },
		{ "", "errno: EINVAL" },
		{ "/fifo", "errno: EINVAL" },
		{ "/to-fifo", "errno: EINVAL" },
	};
	for (size_t i = 0; i < jp_count(cases); i++) {
		const char *what = look("root", cases[i].path);
		if (strcmp(what, cases[i].what))
			fail_msg("%s: %s, not %s", cases[i].path, what, cases[i].what);
	}
	assert_string_equal(look("no-root", "/lib/a.so"), "errno: ENOENT");
	assert_string_equal(look("secret", "/lib/a.so"), "errno: ENOTDIR");
}

TEST(test_names_too_long_lead_nowhere)
{
	char path[2 * PATH_MAX] = "/lib/a.so/";
	memset(path + strlen(path), 'x', NAME_MAX + 1);
	assert_string_equal(look("root", path), "errno: ENAMETOOLONG");
	memset(path, '/', sizeof path - 1);
	strcpy(path + PATH_MAX, "lib/a.so");
	assert_string_equal(look("root", path), "errno: ENAMETOOLONG");
}

TEST(test_without_a_root)
{
	assert_string_equal(look(NULL, "secret"), "outside");
	assert_string_equal(look(NULL, "root/sub/up"), "outside");
	assert_string_equal(look(NULL, "root/fifo"), "errno: EINVAL");
	assert_string_equal(look(NULL, "root/to-fifo"), "errno: EINVAL");
	assert_string_equal(look(NULL, "root"), "errno: EINVAL");
	assert_string_equal(look(NULL, "/dev/null"), "errno: EINVAL");
	assert_string_equal(look(NULL, "root/loop1"), "errno: ELOOP");
	assert_string_equal(look(NULL, "nothing"), "errno: ENOENT");
}

/* Whoever opens a FIFO for writing without waiting learns whether somebody reads it. */
TEST(test_a_fifo_is_never_opened)
{
	struct stat st;
	assert_int_equal(jp_file_open_untrusted((struct jp_root){ .path = "root" }, "/fifo", &st), -1);
	assert_int_equal(open("root/fifo", O_WRONLY | O_NONBLOCK), -1);
	assert_int_equal(errno, ENXIO);
}

TEST(test_reading)
{
	struct jp_strbuf text = { 0 };
	struct stat st;
	assert_int_equal(jp_file_read("secret", &text, &st, NULL), 0);
	assert_string_equal(text.text, "outside");
	assert_int_equal(text.len, 7);
	assert_int_equal(st.st_size, 7);
	jp_strbuf_release(&text);
	put("secret", "");
	assert_int_equal(jp_file_read("secret", &text, NULL, NULL), 0);
	assert_int_equal(text.len, 0);
	jp_strbuf_release(&text);
	put("secret", "outside");
	/* A file that says it is empty and is not. */
	assert_int_equal(jp_file_read("/proc/self/status", &text, NULL, NULL), 0);
	assert_contains(text.text, "Pid:");
	jp_strbuf_release(&text);
}

TEST(test_reading_what_is_large)
{
	enum { size = 300001 };
	struct jp_strbuf text = { 0 };
	FILE *out = fopen("secret", "w");
	for (int i = 0; i < size; i++)
		putc(i * 7 % 251, out);
	fclose(out);
	assert_int_equal(jp_file_read("secret", &text, NULL, NULL), 0);
	assert_int_equal(text.len, size);
	for (int i = 0; i < size; i++)
		assert_int_equal((unsigned char)text.text[i], i * 7 % 251);
	jp_strbuf_release(&text);
	put("secret", "outside");
}

/* A pipe that the user named may be read: the writer is another process. */
TEST(test_reading_a_pipe)
{
	struct jp_strbuf text = { 0 };
	pid_t writer = fork();
	if (!writer) {
		int fd = open("root/fifo", O_WRONLY);
		_exit(write(fd, "one ", 4) != 4 || usleep(20000) || write(fd, "two", 3) != 3);
	}
	assert_int_equal(jp_file_read("root/fifo", &text, NULL, NULL), 0);
	assert_string_equal(text.text, "one two");
	jp_strbuf_release(&text);
	int status;
	assert_int_equal(waitpid(writer, &status, 0), writer);
	assert_int_equal(status, 0);
}

TEST(test_standard_input)
{
	struct jp_strbuf text = { 0 };
	int keep = dup(STDIN_FILENO), ends[2];
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(write(ends[1], "piped", 5), 5);
	close(ends[1]);
	dup2(ends[0], STDIN_FILENO);
	assert_int_equal(jp_file_read("-", &text, NULL, NULL), 0);
	assert_string_equal(text.text, "piped");
	assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0); /* it was not ours to close */
	dup2(keep, STDIN_FILENO);
	close(keep);
	close(ends[0]);
	jp_strbuf_release(&text);
}

TEST(test_what_cannot_be_read)
{
	static const struct {
		const char *path, *says;
	} cases[] = { { "nothing", "No such file" },
		      { "root", "directory" },
		      { "/dev/null", "neither a file nor a pipe" } };
	for (size_t i = 0; i < jp_count(cases); i++) {
		struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
		struct jprof_error err = { 0 };
		assert_int_equal(jp_file_read(cases[i].path, &text, NULL, &err), JPROF_E_IO);
		assert_int_equal(err.code, JPROF_E_IO);
		assert_string_equal(err.path, cases[i].path);
		assert_contains(err.text, cases[i].says);
	}
}

TESTS_BETWEEN(set_up, clean_up)
