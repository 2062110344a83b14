/* A file of rules that cannot be read leaves no memory behind. */
#include <unistd.h>

#include "answers/rulesfile.h"
#include "harness.h"

static void check_refused(const char *path)
{
	char none[1], *text = none;
	size_t len = 1;
	assert_false(rules_load(path, &text, &len));
	assert_null(text);
	assert_int_equal(len, 0);
}

TEST(test_refused)
{
	check_refused("/");
	check_refused("/nonexistent/rules");
}

TEST(test_too_large)
{
	char path[] = "/tmp/jprof-rules-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	check_refused(path);
	close(fd);
	unlink(path);
}

TEST(test_read)
{
	char path[] = "/tmp/jprof-rules-XXXXXX", *text;
	size_t len;
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "[a] b\n", 6), 6);
	assert_true(rules_load(path, &text, &len));
	assert_int_equal(len, 6);
	assert_memory_equal(text, "[a] b\n", 6);
	free(text);
	close(fd);
	unlink(path);
}
