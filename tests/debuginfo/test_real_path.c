
#include "testing.h"
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"

/* DIR/aa/f, DIR/ab, DIR/link -> aa. */
static char dir[PATH_MAX];

static void below(const char *name, char *path)
{
	assert_true(snprintf(path, PATH_MAX, "%s/%s", dir, name) < PATH_MAX);
}

static int set_up(void **state)
{
	char path[PATH_MAX], made[] = "/tmp/jprof-real-path.XXXXXX";
	(void)state;
	if (!mkdtemp(made) || !realpath(made, dir))
		return -1;
	below("aa", path);
	mkdir(path, 0700);
	below("ab", path);
	mkdir(path, 0700);
	below("link", path);
	if (symlink("aa", path))
		return -1;
	below("aa/f", path);
	return close(creat(path, 0600));
}

static int tear_down(void **state)
{
	static const char *const names[] = { "aa/f", "aa", "ab", "link", "" };
	char path[PATH_MAX];
	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		below(names[i], path);
		remove(path);
	}
	return 0;
}

/* The file DIR/link/f as seen below `root`; NULL: it must not be. */
static void check(const char *root, const char *want)
{
	char path[PATH_MAX], got[PATH_MAX];
	below("link/f", path);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	bool seen = jp_file_real_path(fd, (struct jp_root){ .path = root }, got);
	close(fd);
	assert_int_equal(seen, want != NULL);
	if (want)
		assert_string_equal(got, want);
}

TEST(without_root)
{
	char want[PATH_MAX];
	below("aa/f", want);
	check(NULL, want);
	check("/", want);
}

TEST(inside)
{
	char root[PATH_MAX];
	check(dir, "/aa/f");
	below("aa", root);
	check(root, "/f");
	below("link", root);
	check(root, "/f");
	below("ab/../aa/", root);
	check(root, "/f");
}

TEST(outside)
{
	char root[PATH_MAX];
	below("ab", root);
	check(root, NULL);
	below("nowhere", root);
	check(root, NULL);
	below("aa/f", root);
	check(root, NULL);
}

TESTS_BETWEEN(set_up, tear_down)
