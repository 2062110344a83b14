/* Memory that is short: every allocation of a whole job fails once. The linker turns the library's
 * calls of malloc and its kin to the functions here (--wrap). The leak checker of a developer's
 * build looks at what is left. */
#include "harness.h"
#include "input/maps.h"

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
char *__real_strdup(const char *s);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
char *__wrap_strdup(const char *s);

static bool armed;
static size_t calls, failing; /* the call of this number, from 1, fails; 0: none */

static bool is_time(void)
{
	return armed && ++calls == failing;
}

void *__wrap_malloc(size_t size)
{
	return is_time() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
	return is_time() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return is_time() ? NULL : __real_realloc(old, size);
}

char *__wrap_strdup(const char *s)
{
	return is_time() ? NULL : __real_strdup(s);
}

/* What a job is given and what it made. */
struct job {
	const char *path, *sysroot;
	char report[200000];
	size_t len;
	double named;
	bool views; /* the other reports, too */
	struct jprof_error err;
};

static int keep(void *context, const void *data, size_t len)
{
	struct job *job = context;
	if (len > sizeof job->report - job->len - 1)
		return -1;
	memcpy(job->report + job->len, data, len);
	job->len += len;
	job->report[job->len] = '\0';
	return 0;
}

/* Every view; of a copy. Where there is no code or disassembler --disasm has an error of its own. */
static int show_views(const struct jprof_profile *p, struct job *job)
{
	static const char *const formats[] = { "tree", "traces", "peek", "list", "disasm", "callgrind" };
	const struct jprof_view_opts view = { .size = sizeof view,
		                              .counter = JPROF_INUSE_SPACE,
		                              .pattern = "^(row|main|work)",
		                              .source_path = SAMPLES "/heaps/src" };
	struct jprof_profile *copy;
	int rc = jprof_profile_copy(p, &copy, &job->err);
	if (rc)
		return rc;
	for (size_t i = 0; !rc && i < jp_count(formats); i++) {
		rc = jprof_render(copy, formats[i], &view, keep, job, &job->err);
		if (rc == JPROF_E_UNSUPPORTED)
			rc = 0;
	}
	jprof_profile_free(copy);
	return rc;
}

static int answer(struct jprof_profile *p, struct job *job)
{
	const struct jprof_symbolize_opts opts = { .size = sizeof opts, .sysroot = job->sysroot };
	const struct jprof_view_opts view = {
		.size = sizeof view,
		.counter = JPROF_INUSE_SPACE,
		.granularity = JPROF_BY_LINE,
		.errors = true,
		.base = "none",
	};
	const struct jprof_graph_opts graph_opts = { .size = sizeof graph_opts, .nodecount = 3 };
	static const char *const formats[] = { "text", "collapsed", "diff-collapsed", "csv",
		                               "json", "json-info", "speedscope",     "dhat" };
	struct jprof_coverage *coverage = NULL;
	struct jprof_graph *graph = NULL;
	int rc = jprof_profile_symbolize(p, &opts, &job->err);
	if (!rc)
		rc = jprof_profile_fold(p, JPROF_FOLD_VM, &job->err);
	for (size_t i = 0; !rc && i < jp_count(formats); i++)
		rc = jprof_render(p, formats[i], &view, keep, job, &job->err);
	if (!rc)
		rc = jprof_coverage_new(p, JPROF_INUSE_SPACE, &coverage, &job->err);
	if (!rc)
		rc = jprof_graph_new(p, &view, &graph_opts, &graph, &job->err);
	if (!rc)
		job->named = jprof_coverage_named(coverage);
	if (!rc && job->views)
		rc = show_views(p, job);
	jprof_graph_free(graph);
	jprof_coverage_free(coverage);
	return rc;
}

static int run(struct job *job)
{
	struct jprof_dump *dump = NULL;
	struct jprof_profile *p = NULL, *other = NULL;
	int rc = jprof_dump_open(job->path, &dump, &job->err);
	if (!rc)
		rc = jprof_profile_new(dump, NULL, &p, &job->err);
	if (!rc)
		rc = jprof_profile_new(dump, NULL, &other, &job->err);
	if (!rc)
		rc = jprof_profile_merge(p, other, 2, &job->err);
	if (!rc)
		rc = answer(p, job);
	jprof_dump_free(dump);
	jprof_profile_free(p);
	jprof_profile_free(other);
	return rc;
}

static int run_failing(struct job *job, size_t nth)
{
	job->len = 0;
	*job->report = '\0';
	memset(&job->err, 0, sizeof job->err);
	calls = 0;
	failing = nth;
	armed = true;
	int rc = run(job);
	armed = false;
	return rc;
}

/* A job that ends well in spite of it has the same answer: memory is no reason for other names. */
static void check_job(const char *path, const char *sysroot, const char *part, bool views)
{
	static struct job whole, job;
	int wrong = 0;
	whole = job = (struct job){ .path = path, .sysroot = sysroot, .views = views };
	assert_int_equal(run_failing(&whole, 0), 0);
	assert_contains(whole.report, part);
	size_t count = calls;
	assert_true(count > 50);
	for (size_t nth = 1; nth <= count; nth++) {
		int rc = run_failing(&job, nth);
		if (rc && rc != JPROF_E_NOMEM)
			wrong += complain("allocation %zu of %zu: %d %s", nth, count, rc, job.err.text);
		if (rc && job.err.code != rc)
			wrong +=
			    complain("allocation %zu of %zu: %d, but the error says %d", nth, count, rc, job.err.code);
		if (!rc && (strcmp(job.report, whole.report) || job.named != whole.named))
			wrong += complain("allocation %zu of %zu: another report", nth, count);
	}
	assert_int_equal(wrong, 0);
}

static void check(const char *path, const char *sysroot, const char *part)
{
	check_job(path, sysroot, part, false);
}

static void test_views(void **state)
{
	(void)state;
	check_job(SAMPLES "/heaps/jemalloc-5.3.0.heap", SAMPLES "/heaps/sysroot", "fn=(1)", true);
}

static void test_without_files(void **state)
{
	(void)state;
	check(SAMPLES "/heaps/hand-4.heap", "/proc/self/fdinfo", "server+0x1233");
}

static void test_with_symbols_and_lines(void **state)
{
	(void)state;
	check(SAMPLES "/heaps/jemalloc-5.3.0.heap", SAMPLES "/heaps/sysroot", "rows_keep");
}

/* A fault and its warning need memory too. */
static void test_a_cut_dump(void **state)
{
	(void)state;
	check(SAMPLES "/heaps/faults/cut-stack.heap", "/proc/self/fdinfo", "Total:");
}

static void test_maps(void **state)
{
	(void)state;
	static const char text[] = "00400000-00500000 r-xp 00000000 08:01 42   /opt/app/server\n";
	for (failing = 1;; failing++) {
		struct jprof_maps *maps = NULL;
		struct jprof_error err = { 0 };
		calls = 0;
		armed = true;
		int rc = jprof_maps_parse(text, strlen(text), "maps", &maps, &err);
		armed = false;
		assert_int_equal(rc, calls < failing ? 0 : JPROF_E_NOMEM);
		assert_int_equal(err.code, rc);
		if (rc)
			assert_null(maps);
		jprof_maps_free(maps);
		if (!rc)
			break;
	}
	assert_true(failing > 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_files), cmocka_unit_test(test_with_symbols_and_lines),
		cmocka_unit_test(test_a_cut_dump),    cmocka_unit_test(test_views),
		cmocka_unit_test(test_maps),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
