#include "base/opts.h"
#include "harness.h"

struct known_opts {
	size_t size;
	size_t first;
	size_t second;
};

struct newer_opts {
	size_t size;
	size_t first;
	size_t second;
	size_t third;
	size_t fourth;
};

TEST(test_none_means_zero)
{
	struct known_opts own;
	memset(&own, 0xff, sizeof own);
	assert_int_equal(jp_opts_take(&own, sizeof own, NULL, NULL), 0);
	assert_int_equal(own.first, 0);
	assert_int_equal(own.second, 0);
}

TEST(test_same_size)
{
	struct known_opts own, given = { sizeof given, 1, 2 };
	assert_int_equal(jp_opts_take(&own, sizeof own, &given, NULL), 0);
	assert_int_equal(own.first, 1);
	assert_int_equal(own.second, 2);
}

/* A caller compiled when there was no `second`: what lies behind its struct is not read. */
TEST(test_older_caller)
{
	struct known_opts own, given = { offsetof(struct known_opts, second), 1, 2 };
	assert_int_equal(jp_opts_take(&own, sizeof own, &given, NULL), 0);
	assert_int_equal(own.first, 1);
	assert_int_equal(own.second, 0);
}

TEST(test_newer_caller)
{
	struct known_opts own;
	struct jprof_error err = { 0 };
	struct newer_opts given = { sizeof given, 1, 2, 0, 0 };
	assert_int_equal(jp_opts_take(&own, sizeof own, &given, &err), 0);
	assert_int_equal(own.second, 2);
	given.fourth = 1;
	assert_int_equal(jp_opts_take(&own, sizeof own, &given, &err), JPROF_E_ARGUMENT);
	assert_int_equal(err.code, JPROF_E_ARGUMENT);
	assert_is_message(err.text);
}
