/* New files of the program: whole or not at all, never in place of another, with and without files that have no name.
 * The linker turns its calls of open to the function here. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/budget.h"
#include "cli/newfile.h"
#include "harness.h"

static bool nameless_refused;
static char dir[] = "/tmp/test-newfile-XXXXXX", path[sizeof dir + 16];

int __real_open(const char *name, int flags, ...);
int __real_open64(const char *name, int flags, ...) __attribute__((weak)); /* not in newer musls */
int __wrap_open(const char *name, int flags, ...);
int __wrap_open64(const char *name, int flags, ...);

int __wrap_open(const char *name, int flags, ...)
{
	if (nameless_refused && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return __real_open(name, flags, 0666);
}

int __wrap_open64(const char *name, int flags, ...)
{
	if (nameless_refused && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return __real_open64(name, flags, 0666);
}

/* How many names the directory has. */
static int names(void)
{
	char command[100];
	int n = -1;
	snprintf(command, sizeof command, "ls -A %s | wc -l", dir);
	FILE *list = popen(command, "re");
	assert_non_null(list);
	assert_int_equal(fscanf(list, "%d", &n), 1);
	pclose(list);
	return n;
}

FIXTURE(setup)
{
	unlink(path);
	return 0;
}

static void commit(const char *text)
{
	struct newfile f;
	assert_true(newfile_open(&f, path));
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(newfile_write(&f, text, strlen(text)), 0);
	assert_true(newfile_commit(&f));
}

static void check_whole(void)
{
	struct stat st;
	umask(022);
	commit("whole");
	size_t len;
	char *text = read_whole(path, &len);
	assert_string_equal(text, "whole");
	free(text);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0644);
	assert_int_equal(names(), 1);
}

static void check_no_overwriting(void)
{
	struct newfile f;
	commit("first");
	assert_false(newfile_open(&f, path));
	unlink(path);
	assert_true(newfile_open(&f, path));
	assert_int_equal(newfile_write(&f, "late", 4), 0);
	assert_int_equal(symlink("/nowhere", path), 0);
	assert_false(newfile_commit(&f));
	assert_int_equal(names(), 1);
	unlink(path);
}

static void check_abandoned(void)
{
	struct newfile f;
	assert_true(newfile_open(&f, path));
	assert_int_equal(newfile_write(&f, "x", 1), 0);
	newfile_abandon(&f);
	newfile_abandon(&f);
	assert_int_equal(names(), 0);
}

TEST_BETWEEN(test_nameless, setup, NULL)
{
	nameless_refused = false;
	check_whole();
	unlink(path);
	check_no_overwriting();
	check_abandoned();
}

TEST_BETWEEN(test_with_part, setup, NULL)
{
	nameless_refused = true;
	check_whole();
	unlink(path);
	check_no_overwriting();
	check_abandoned();
}

/* What a killed process leaves does not look whole, and goes the next time; what a living one has stays. */
TEST_BETWEEN(test_killed, setup, NULL)
{
	struct newfile mine;
	int ends[2];
	char byte;
	nameless_refused = true;
	assert_int_equal(pipe(ends), 0);
	pid_t pid = fork();
	if (!pid) {
		struct newfile f;
		if (!newfile_open(&f, path) || newfile_write(&f, "half", 4) || write(ends[1], "x", 1) != 1)
			_exit(1);
		pause();
		_exit(1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	assert_true(newfile_open(&mine, path));
	assert_int_equal(names(), 2);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(access(path, F_OK), -1);
	commit("next");
	assert_int_equal(names(), 2); /* mine, and what was made now */
	newfile_abandon(&mine);
	assert_int_equal(names(), 1);
}

/* The watch of memory ends the program on a thread of its own. */
TEST_BETWEEN(test_out_of_budget, setup, NULL)
{
	enum { piece = 1 << 20, pieces = 400 };
	for (int replaces = 0; replaces < 2; replaces++) {
		int status;
		pid_t pid = fork();
		if (!pid) {
			struct newfile f;
			nameless_refused = true;
			budget_at_end(newfile_end_parts);
			if (replaces ? newfile_begin(&f, path) : !newfile_open(&f, path))
				_exit(2);
			if (names() != 1 || newfile_write(&f, "half", 4) || !budget_watch("1M"))
				_exit(3);
			for (int i = 0; i < pieces; i++) {
				memset(malloc(piece), 1, piece);
				usleep(10000);
			}
			_exit(4);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), 1);
		assert_int_equal(names(), 0);
	}
}

/* Another path in the same directory, as often as it is asked for; none after the third time. */
static char *another(const void *context)
{
	static int asked;
	char *next = NULL;
	(void)context;
	if (++asked % 3 && asprintf(&next, "%s.%d", path, asked) < 0)
		return NULL;
	return next;
}

TEST_BETWEEN(test_another_name, setup, NULL)
{
	for (int refused = 0; refused < 2; refused++) {
		struct newfile f;
		char *got = NULL;
		nameless_refused = refused;
		assert_true(newfile_open(&f, path));
		commit("theirs");
		assert_int_equal(newfile_write(&f, "mine", 4), 0);
		assert_true(newfile_commit_as(&f, another, NULL, &got));
		assert_string_not_equal(got, path);
		assert_int_equal(names(), 2);
		assert_int_equal(unlink(got), 0);
		free(got);
		assert_int_equal(unlink(path), 0);
	}
	struct newfile f;
	char *got = NULL;
	assert_true(newfile_open(&f, path));
	commit("theirs");
	assert_false(newfile_commit_as(&f, another, NULL, &got));
	assert_null(got);
	assert_int_equal(names(), 1);
}

TEST_BETWEEN(test_errors, setup, NULL)
{
	struct newfile f;
	nameless_refused = false;
	assert_false(newfile_open(&f, "/no-such-directory/x"));
	assert_false(newfile_open(&f, "/proc/x"));
	assert_false(newfile_open(&f, dir));
	assert_true(newfile_open(&f, path));
	close(f.fd);
	f.fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_true(f.fd >= 0);
	assert_int_equal(newfile_write(&f, "x", 1), -1);
	assert_false(newfile_commit(&f));
	assert_int_equal(names(), 0);
}

int main(void)
{
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof path, "%s/x.jprof", dir);
	int failed = run_listed(NULL, NULL);
	unlink(path);
	return rmdir(dir) || failed;
}
