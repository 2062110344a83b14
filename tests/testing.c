#include "testing.h"

static struct CMUnitTest tests[64];
static size_t count;

void list_test(const char *name, CMUnitTestFunction run, CMFixtureFunction before, CMFixtureFunction after)
{
	if (count == sizeof tests / sizeof *tests)
		abort();
	tests[count++] = (struct CMUnitTest){ name, run, before, after, NULL };
}

int run_listed(CMFixtureFunction before, CMFixtureFunction after)
{
	return _cmocka_run_group_tests("tests", tests, count, before, after);
}
