/* What a control group has left, from trees that look as the kernel's do; and sizes. */

#include "cli/budget.h"
#include "harness.h"

static char top[64];

static void put(const char *path, const char *text)
{
	char full[256], command[320];
	snprintf(full, sizeof full, "%s/%s", top, path);
	snprintf(command, sizeof command, "mkdir -p $(dirname %s)", full);
	assert_int_equal(system(command), 0);
	FILE *file = fopen(full, "we");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

FIXTURE(make_top)
{
	strcpy(top, "/tmp/jprof-budget-XXXXXX");
	return mkdtemp(top) ? 0 : -1;
}

static int remove_top(void **state)
{
	char command[96];
	(void)state;
	snprintf(command, sizeof command, "rm -rf %s", top);
	return system(command);
}

TEST_BETWEEN(test_second_version, make_top, remove_top)
{
	put("pod/app/memory.max", "max\n");
	put("pod/app/memory.high", "max\n");
	put("pod/app/memory.current", "1000\n");
	assert_true(budget_of_cgroup(top, "0::/pod/app\n", BUDGET_UNTIL_SLOWED) == UINT64_MAX);
	put("pod/app/memory.max", "9000\n");
	assert_int_equal(budget_of_cgroup(top, "0::/pod/app\n", BUDGET_UNTIL_SLOWED), 8000);
	put("pod/app/memory.high", "4000\n");
	assert_int_equal(budget_of_cgroup(top, "0::/pod/app\n", BUDGET_UNTIL_SLOWED), 3000);
	assert_int_equal(budget_of_cgroup(top, "0::/pod/app\n", BUDGET_UNTIL_KILLED), 8000);
	put("pod/memory.max", "6000\n");
	put("pod/memory.high", "max\n");
	put("pod/memory.current", "5500\n");
	assert_int_equal(budget_of_cgroup(top, "0::/pod/app\n", BUDGET_UNTIL_SLOWED), 500);
	put("pod/memory.stat", "anon 100\ninactive_file 2000\nactive_file 7\n");
	assert_int_equal(budget_of_cgroup(top, "0::/pod/app\n", BUDGET_UNTIL_SLOWED), 2500);
	put("pod/memory.current", "9000\n");
	assert_int_equal(budget_of_cgroup(top, "0::/pod/app\n", BUDGET_UNTIL_SLOWED), 0);
}

/* In a namespace of its own a group sees itself as the root. */
TEST_BETWEEN(test_namespace, make_top, remove_top)
{
	put("memory.max", "7000\n");
	put("memory.current", "1000\n");
	assert_int_equal(budget_of_cgroup(top, "0::/\n", BUDGET_UNTIL_SLOWED), 6000);
}

TEST_BETWEEN(test_first_version, make_top, remove_top)
{
	put("memory/docker/x/memory.limit_in_bytes", "9000\n");
	put("memory/docker/x/memory.usage_in_bytes", "3000\n");
	put("memory/docker/x/memory.stat", "inactive_file 1\ntotal_inactive_file 1000\n");
	assert_int_equal(
	    budget_of_cgroup(top, "12:cpu,cpuacct:/\n4:memory:/docker/x\n1:name=systemd:/y\n", BUDGET_UNTIL_SLOWED),
	    7000);
	assert_int_equal(budget_of_cgroup(top, "4:hugetlb,memory:/docker/x\n", BUDGET_UNTIL_SLOWED), 7000);
	assert_true(budget_of_cgroup(top, "4:memoryx:/docker/x\n", BUDGET_UNTIL_SLOWED) == UINT64_MAX);
	assert_true(budget_of_cgroup(top, "", BUDGET_UNTIL_SLOWED) == UINT64_MAX);
	assert_true(budget_of_cgroup(top, "nonsense\n:\n::\n", BUDGET_UNTIL_SLOWED) == UINT64_MAX);
}

TEST(test_sizes)
{
	assert_int_equal(budget_size("700"), 700);
	assert_int_equal(budget_size("2k"), 2048);
	assert_int_equal(budget_size("500M"), 500 << 20);
	assert_true(budget_size("16G") == UINT64_C(16) << 30);
	static const char *const bad[] = { "", "0", "M", "-1", "5T", "5MB", "99999999999999999G", "1 G" };
	for (size_t i = 0; i < jp_count(bad); i++)
		assert_int_equal(budget_size(bad[i]), 0);
}
