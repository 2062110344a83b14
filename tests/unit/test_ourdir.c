/* A directory of the user's alone: whose it must be, files in it that others may have put there, what is removed, and
 * many processes at once. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/ourdir.h"
#include "harness.h"

enum { nobody = 65534 };

static char top[] = "/tmp/jprof-ourdir-XXXXXX";

FIXTURE(make_top)
{
	return mkdtemp(top) && !chdir(top) ? 0 : -1;
}

/* A path below the directory of this test; the last four are kept. */
static const char *below(const char *name)
{
	static char paths[4][128];
	static unsigned next;
	char *path = paths[next++ % 4];
	snprintf(path, sizeof paths[0], "%s/%s", top, name);
	return path;
}

static int open_errno(const char *name, bool make)
{
	int dir = jp_ourdir_open(below(name), make), why = dir < 0 ? errno : 0;
	jp_file_close(&dir);
	return why;
}

TEST(test_whose)
{
	assert_int_equal(open_errno("new", false), ENOENT);
	assert_int_equal(open_errno("new/deep/er", true), 0);
	struct stat st;
	assert_int_equal(stat(below("new/deep"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(chmod(below("new/deep/er"), 0755), 0);
	assert_int_equal(open_errno("new/deep/er", true), 0);
	assert_int_equal(chmod(below("new/deep/er"), 0775), 0);
	assert_int_equal(open_errno("new/deep/er", true), EPERM);
	assert_int_equal(chmod(below("new/deep/er"), 01777), 0);
	assert_int_equal(open_errno("new/deep/er", true), EPERM);
	assert_int_equal(symlink("new", below("link")), 0);
	assert_true(open_errno("link", true));
	fclose(fopen(below("file"), "we"));
	assert_true(open_errno("file", true));
	assert_true(jp_ourdir_open("relative", true) < 0);
	assert_int_equal(access(below("relative"), F_OK), -1);
	if (geteuid())
		return;
	assert_int_equal(open_errno("his", true), 0);
	assert_int_equal(chown(below("his"), nobody, nobody), 0);
	assert_int_equal(open_errno("his", true), EPERM);
	/* Root leaves nothing in somebody's home. */
	assert_int_equal(open_errno("his/.cache/jprof", true), ENOENT);
	assert_int_equal(access(below("his/.cache"), F_OK), -1);
}

/* NULL: it is not read. */
static bool reads_as(int dir, const char *name, const char *text)
{
	struct jp_strbuf bytes = { 0 };
	bool read = jp_ourdir_read(dir, name, 100, &bytes);
	assert_true(read || !bytes.text);
	bool right = text ? read && !strcmp(bytes.text, text) : !read;
	jp_strbuf_release(&bytes);
	return right;
}

static void put_file(const char *path, const char *text, mode_t mode)
{
	FILE *file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	fclose(file);
	assert_int_equal(chmod(path, mode), 0);
}

TEST(test_files)
{
	char longest[101] = "";
	int dir = jp_ourdir_open(below("files"), true);
	assert_true(dir >= 0);
	assert_true(reads_as(dir, "none.x", NULL));
	assert_true(jp_ourdir_write(dir, "a.x", "one", 3));
	assert_true(reads_as(dir, "a.x", "one"));
	assert_true(jp_ourdir_write(dir, "a.x", "another", 7));
	assert_true(reads_as(dir, "a.x", "another"));
	assert_false(jp_ourdir_write(dir, "no/such.x", "one", 3));
	struct stat st;
	assert_int_equal(stat(below("files/a.x"), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	memset(longest, 'l', 100);
	assert_true(jp_ourdir_write(dir, "l.x", longest, 100));
	assert_true(reads_as(dir, "l.x", longest));
	assert_true(jp_ourdir_write(dir, "l.x", below(longest), 101));
	assert_true(reads_as(dir, "l.x", NULL));
	/* What others may have put there. */
	put_file(below("files/open.x"), "text", 0620);
	assert_true(reads_as(dir, "open.x", NULL));
	put_file(below("files/empty.x"), "", 0600);
	assert_true(reads_as(dir, "empty.x", NULL));
	assert_int_equal(symlink("a.x", below("files/link.x")), 0);
	assert_true(reads_as(dir, "link.x", NULL));
	assert_int_equal(mkfifo(below("files/fifo.x"), 0600), 0);
	assert_true(reads_as(dir, "fifo.x", NULL));
	assert_int_equal(mkdir(below("files/dir.x"), 0700), 0);
	assert_true(reads_as(dir, "dir.x", NULL));
	if (!geteuid()) {
		put_file(below("files/his.x"), "text", 0600);
		assert_int_equal(chown(below("files/his.x"), nobody, nobody), 0);
		assert_true(reads_as(dir, "his.x", NULL));
	}
	jp_file_close(&dir);
}

static void set_age(const char *path, time_t seconds)
{
	struct timespec times[2] = { { .tv_sec = time(NULL) - seconds }, { .tv_sec = time(NULL) - seconds } };
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static bool ends_in_x(int dir, const char *name)
{
	size_t len = strlen(name);
	(void)dir;
	return len > 2 && !strcmp(name + len - 2, ".x");
}

static bool is_any(int dir, const char *name)
{
	return !faccessat(dir, name, F_OK, 0);
}

TEST(test_trim)
{
	static const char *const names[] = { "a.x", "b.x", "c.x", "d.x", "e.x" };
	static const int ages[] = { 300000, 500000, 100000, 400000, 200000 };
	struct jp_ourdir_sum sum;
	int dir = jp_ourdir_open(below("trim"), true);
	assert_true(dir >= 0 && !chdir(below("trim")));
	for (size_t i = 0; i < 5; i++) {
		assert_true(jp_ourdir_write(dir, names[i], "0123456789", 10));
		set_age(names[i], ages[i]);
	}
	put_file("mine", "x", 0600);
	put_file("mine.xx", "x", 0600);
	put_file(".unfinished-1-0", "left", 0600);
	put_file(".unfinished-1-1", "at work", 0600);
	set_age(".unfinished-1-0", 4000);
	static const char *const others[] = { ".unfinished-mine", ".unfinished-1-", ".unfinished-1-2x",
		                              ".unfinished--1" };
	for (size_t i = 0; i < jp_count(others); i++) {
		put_file(others[i], "mine", 0600);
		set_age(others[i], 4000);
	}
	assert_true(jp_ourdir_measure(dir, ends_in_x, &sum) && sum.files == 5 && sum.bytes == 50);
	assert_true(reads_as(dir, "b.x", "0123456789")); /* the oldest was used just now */
	assert_true(jp_ourdir_trim(dir, ends_in_x, 30, &sum) && sum.files == 2 && sum.bytes == 20);
	assert_int_equal(access("b.x", F_OK), 0);
	assert_int_equal(access("c.x", F_OK), 0);
	assert_int_equal(access("e.x", F_OK), 0);
	assert_int_equal(access(".unfinished-1-0", F_OK), -1);
	assert_int_equal(access(".unfinished-1-1", F_OK), 0);
	put_file("nothing.x", "", 0600);
	assert_true(jp_ourdir_trim(dir, ends_in_x, 0, &sum) && sum.files == 4 && sum.bytes == 30);
	assert_true(jp_ourdir_measure(dir, ends_in_x, &sum) && !sum.files && !sum.bytes);
	assert_int_equal(access("mine", F_OK), 0);
	assert_int_equal(access("mine.xx", F_OK), 0);
	for (size_t i = 0; i < jp_count(others); i++)
		assert_int_equal(access(others[i], F_OK), 0);
	assert_int_equal(chdir(top), 0);
	jp_file_close(&dir);
}

/* As a process that had this one's id was killed so often: what is old is in nobody's way. */
TEST(test_left)
{
	char path[64];
	int dir = jp_ourdir_open(below("left"), true);
	assert_true(dir >= 0);
	for (int i = 0; i < 100; i++) {
		snprintf(path, sizeof path, "left/.unfinished-%ld-%d", (long)getpid(), i);
		put_file(path, "left", 0600);
	}
	put_file("left/a.x", "old", 0600);                   /* only a rename puts a file in its place */
	assert_false(jp_ourdir_write(dir, "a.x", "one", 3)); /* somebody may be about to finish them */
	set_age(path, 4000);
	assert_true(jp_ourdir_write(dir, "a.x", "one", 3));
	assert_true(reads_as(dir, "a.x", "one"));
	assert_int_equal(access(path, F_OK), -1);
	jp_file_close(&dir);
}

/* Writes one file and reads it, again and again: it is always one that somebody wrote. */
static int work(const char *path, int letter)
{
	char text[5000];
	int wrong = 0, dir = jp_ourdir_open(path, true);
	memset(text, letter, sizeof text);
	for (int i = 0; i < 100; i++) {
		struct jp_strbuf bytes = { 0 };
		struct jp_ourdir_sum removed;
		wrong += !jp_ourdir_write(dir, "a.x", text, 1000u * (unsigned)(letter - 'a' + 1));
		if (jp_ourdir_read(dir, "a.x", sizeof text, &bytes))
			wrong += bytes.len != 1000u * (unsigned)(*bytes.text - 'a' + 1) ||
			         strspn(bytes.text, (char[]){ *bytes.text, '\0' }) != bytes.len;
		if (i % 10 == letter % 10)
			wrong += !jp_ourdir_trim(dir, ends_in_x, 0, &removed);
		jp_strbuf_release(&bytes);
	}
	return dir < 0 || wrong;
}

TEST(test_processes)
{
	int status, wrong = 0;
	for (int i = 0; i < 5; i++)
		if (!fork())
			_exit(work(below("shared"), 'a' + i));
	for (int i = 0; i < 5; i++)
		wrong += wait(&status) < 0 || status;
	assert_int_equal(wrong, 0);
	struct jp_ourdir_sum sum;
	int dir = jp_ourdir_open(below("shared"), false);
	assert_true(jp_ourdir_measure(dir, is_any, &sum) && sum.files <= 1);
	jp_file_close(&dir);
}

FIXTURE(remove_top)
{
	char command[128];
	snprintf(command, sizeof command, "rm -rf %s", top);
	return chdir("/") || system(command);
}

TESTS_BETWEEN(make_top, remove_top)
