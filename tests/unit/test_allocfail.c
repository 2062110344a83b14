/* Memory that is short: every ninth allocation of a whole job, with JPROF_SWEEP=whole each, fails once. The leak
 * checker of a developer's build looks at what is left. test_untouched.c has each exported function by itself. */
#include <unistd.h>

#include "base/strbuf.h"
#include "harness.h"
#include "jprof-live.h"
#include "ops/merge.h"
#include "shortmem.h"

/* What a job is given and what it made. */
struct job {
	const char *path, *sysroot, *cache;
	int (*run)(struct job *job);
	struct jp_strbuf bundle;
	char report[200000];
	size_t len;
	double named;
	bool views;   /* the other reports, too */
	size_t calls; /* allocations that it asked for */
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

/* Every format of the library, in the order of their table; of a part, too. Where there is no code or disassembler
 * --disasm has an error of its own. */
static int show_views(const struct jprof_view *view, struct job *job)
{
	const struct jprof_report_opts opts = { .size = sizeof opts,
		                                .pattern = "^(row|main|work)",
		                                .source_path = SAMPLES "/heaps/src" };
	const struct jprof_format *format;
	int rc = 0;
	for (size_t i = 0; !rc && (format = jprof_format_at(i)); i++) {
		if (i && format->for_people != job->views)
			continue;
		rc = jprof_render(view, format->name, &opts, keep, job, &job->err);
		if (rc == JPROF_E_UNSUPPORTED)
			rc = 0;
	}
	return rc;
}

static int answer(struct jprof_profile *p, struct job *job)
{
	const struct jprof_symbolize_opts opts = { .size = sizeof opts, .sysroot = job->sysroot, .cache = job->cache };
	const struct jprof_view_opts view_opts = {
		.size = sizeof view_opts,
		.counter = JPROF_INUSE_SPACE,
		.granularity = JPROF_BY_LINE,
		.fold = JPROF_FOLD_VM,
		.errors = true,
		.focus = ".",
		.ignore = "nowhere",
	};
	const struct jprof_graph_opts graph_opts = { .size = sizeof graph_opts, .nodecount = 3 };
	struct jprof_coverage *coverage = NULL;
	struct jprof_graph *graph = NULL;
	struct jprof_view *view = NULL;
	struct jprof_path *path = NULL;
	struct jprof_sizes *sizes = NULL;
	int rc = jprof_profile_symbolize(p, &opts, &job->err);
	if (!rc)
		rc = jprof_view_new(p, &view_opts, &view, &job->err);
	if (!rc)
		rc = show_views(view, job);
	if (!rc && !job->views)
		rc = jprof_render_info(view, NULL, NULL, keep, job, &job->err);
	if (!rc)
		rc = jprof_coverage_new(view, &coverage, &job->err);
	if (!rc)
		rc = jprof_graph_new(view, &graph_opts, &graph, &job->err);
	if (!rc)
		rc = jprof_path_new(view, &path, &job->err);
	if (!rc)
		rc = jprof_sizes_new(view, &sizes, &job->err);
	if (!rc)
		job->named = jprof_coverage_named(coverage);
	jprof_path_free(path);
	jprof_sizes_free(sizes);
	jprof_graph_free(graph);
	jprof_coverage_free(coverage);
	jprof_view_free(view);
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
		rc = jp_profile_merge(p, other, 2, &job->err);
	if (!rc)
		rc = answer(p, job);
	jprof_dump_free(dump);
	jprof_profile_free(p);
	jprof_profile_free(other);
	return rc;
}

/* With names that are kept, and then read. */
static int run_twice(struct job *job)
{
	struct jprof_cache_sum removed;
	int rc = jprof_cache_empty(job->cache, &removed, &job->err);
	if (rc == JPROF_E_IO)
		rc = job->err.code = JPROF_E_NOMEM; /* the list of its files */
	if (!rc)
		rc = run(job);
	job->len = 0; /* the second report counts */
	return rc ? rc : run(job);
}

static int add(void *context, const void *data, size_t len)
{
	jp_strbuf_add(context, data, len);
	return ((struct jp_strbuf *)context)->failed;
}

/* A member with a side-car, its dump, and the names that are known here. */
static int fill(struct jprof_bundle_writer *w, struct job *job)
{
	static const char agent[] = "{\"jprof_agent\": 1, \"pid\": 7, \"program\": \"/opt/app/server\",\n"
				    " \"objects\": [{\"path\": \"/x\", \"base\": \"0x400000\", \"build_id\": \"ab\"}]}";
	static const struct jprof_bundle_member member = { .size = sizeof member, .role = "master" };
	const struct jprof_symbolize_opts opts = { .size = sizeof opts, .sysroot = job->sysroot };
	struct jprof_profile *p = NULL;
	FILE *file = fopen(job->path, "re");
	assert_non_null(file);
	int rc = jprof_profile_open(job->path, NULL, &p, &job->err);
	if (!rc)
		rc = jprof_profile_symbolize(p, &opts, &job->err);
	if (!rc)
		rc = jprof_bundle_writer_member(w, &member, &job->err);
	if (!rc)
		rc = jprof_bundle_writer_file(w, "agent.json", agent, strlen(agent), &job->err);
	if (!rc)
		rc = jprof_bundle_writer_fd(w, "dump.heap", fileno(file), &job->err);
	if (!rc)
		rc = jprof_bundle_writer_symbols(w, p, true, &job->err);
	fclose(file);
	jprof_profile_free(p);
	return rc;
}

static int run_write(struct job *job)
{
	struct jprof_bundle_writer *w = NULL;
	const struct jprof_bundle_writer_opts opts = { .size = sizeof opts, .label = "boot" };
	int rc = jprof_bundle_writer_new(&opts, add, &job->bundle, &w, &job->err);
	if (!rc)
		rc = fill(w, job);
	if (!rc)
		rc = fill(w, job);
	if (!rc)
		rc = jprof_bundle_writer_finish(w, &job->err);
	if (rc == JPROF_E_WRITE && job->bundle.failed)
		rc = job->err.code = JPROF_E_NOMEM;
	jprof_bundle_writer_free(w);
	return rc;
}

static int run_read(struct job *job)
{
	struct job far = { .sysroot = "/proc/self/fdinfo" };
	struct jprof_profile *p = NULL;
	int rc = jprof_profile_parse(job->bundle.text, job->bundle.len, "b", NULL, &p, &job->err);
	job->sysroot = far.sysroot;
	if (!rc)
		rc = answer(p, job);
	jprof_profile_free(p);
	return rc;
}

/* This process itself becomes a member of a bundle. job->sysroot is a /proc with nothing else in it. */
static int gather(const struct jprof_process *process, struct job *job)
{
	struct jprof_target *target = NULL;
	struct jprof_bundle_writer *w = NULL;
	struct jprof_dump_watch *watch = NULL;
	int rc = jprof_target_open(process, job->sysroot, &target, &job->err);
	if (!rc)
		rc = jprof_target_watch(target, "/nowhere.", false, &watch, &job->err);
	if (!rc)
		rc = jprof_bundle_writer_new(NULL, add, &job->bundle, &w, &job->err);
	if (!rc)
		rc = jprof_bundle_writer_member(w, NULL, &job->err);
	if (!rc)
		rc = jprof_target_gather(target, true, w, &job->err);
	jprof_bundle_writer_free(w);
	jprof_dump_watch_free(watch);
	jprof_target_free(target);
	return rc;
}

static int run_collect(struct job *job)
{
	int pid = getpid();
	const struct jprof_processes_opts opts = {
		.size = sizeof opts, .proc = job->sysroot, .pids = &pid, .pid_count = 1, .match = "^nothing$"
	};
	struct jprof_processes *list = NULL;
	int rc = jprof_processes_new(&opts, &list, &job->err);
	if (!rc) {
		const char *program = jprof_processes_at(list, 0)->program;
		rc = keep(job, program, strlen(program));
	}
	if (!rc)
		rc = gather(jprof_processes_at(list, 0), job);
	jprof_processes_free(list);
	return rc;
}

static int run_failing(struct job *job, size_t nth)
{
	job->len = 0;
	*job->report = '\0';
	memset(&job->err, 0, sizeof job->err);
	shortmem_arm(nth);
	int rc = job->run(job);
	job->calls = shortmem_disarm();
	return rc;
}

/* A job that ends well in spite of it has the same answer: memory is no reason for other names. */
static void check_job(const struct job *given, const char *part)
{
	static struct job whole, job;
	int wrong = 0;
	whole = job = *given;
	assert_int_equal(run_failing(&whole, 0), 0);
	assert_contains(whole.report, part);
	size_t count = whole.calls;
	assert_true(count > 20);
	for (size_t nth = 1; nth <= count; nth += shortmem_step(9)) {
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
	const struct job job = { .path = path, .sysroot = sysroot, .run = run };
	check_job(&job, part);
}

TEST(test_views)
{
	const struct job job = { .path = SAMPLES "/heaps/jemalloc-5.3.0.heap",
		                 .sysroot = SAMPLES "/heaps/sysroot",
		                 .run = run,
		                 .views = true };
	check_job(&job, "ROUTINE ====");
}

TEST(test_without_files)
{
	check(SAMPLES "/heaps/hand-4.heap", "/proc/self/fdinfo", "server+0x1233");
}

TEST(test_with_symbols_and_lines)
{
	check(SAMPLES "/heaps/jemalloc-5.3.0.heap", SAMPLES "/heaps/sysroot", "rows_keep");
}

TEST(test_kept_names)
{
	char cache[] = "/tmp/jprof-kept-XXXXXX";
	struct jprof_cache_sum sum;
	assert_non_null(mkdtemp(cache));
	const struct job job = { .path = SAMPLES "/heaps/jemalloc-5.3.0.heap",
		                 .sysroot = SAMPLES "/heaps/sysroot",
		                 .cache = cache,
		                 .run = run_twice };
	check_job(&job, "rows_keep");
	assert_int_equal(jprof_cache_measure(cache, &sum, NULL), 0);
	assert_true(sum.files > 0);
	assert_int_equal(jprof_cache_empty(cache, &sum, NULL), 0);
	assert_int_equal(rmdir(cache), 0);
}

/* A fault and its warning need memory too. */
TEST(test_a_cut_dump)
{
	check(SAMPLES "/heaps/faults/cut-stack.heap", "/proc/self/fdinfo", "Total:");
}

/* What was written with all memory is read with too little. */
TEST(test_bundles)
{
	struct job job = { .path = SAMPLES "/heaps/jemalloc-5.3.0.heap", .sysroot = SAMPLES "/heaps/sysroot" };
	job.run = run_read;
	assert_int_equal(run_write(&job), 0);
	check_job(&job, "rows_keep");
	jp_strbuf_release(&job.bundle);
}

TEST(test_writing_bundles)
{
	static struct job job;
	size_t len = 0;
	int wrong = 0;
	for (size_t nth = 0; !nth || nth <= job.calls; nth += nth ? shortmem_step(9) : 1) {
		job = (struct job){ .path = SAMPLES "/heaps/hand-4.heap", .sysroot = "/proc/self/fdinfo" };
		job.run = run_write;
		int rc = run_failing(&job, nth);
		len = nth ? len : job.bundle.len;
		if (rc ? rc != JPROF_E_NOMEM || job.err.code != rc : job.bundle.len != len)
			wrong += complain("allocation %zu: %d %s, %zu bytes", nth, rc, job.err.text, job.bundle.len);
		jp_strbuf_release(&job.bundle);
	}
	assert_int_equal(wrong, 0);
	assert_true(len > 1000);
}

TEST(test_collecting)
{
	char proc[] = "/tmp/jprof-proc-XXXXXX", link[64], target[64];
	assert_non_null(mkdtemp(proc));
	snprintf(link, sizeof link, "%s/%d", proc, (int)getpid());
	snprintf(target, sizeof target, "/proc/%d", (int)getpid());
	assert_int_equal(symlink(target, link), 0);
	struct job job = { .sysroot = proc, .run = run_collect };
	check_job(&job, "test_allocfail");
	jp_strbuf_release(&job.bundle);
	unlink(link);
	rmdir(proc);
}

TEST(test_maps)
{
	static const char text[] = "00400000-00500000 r-xp 00000000 08:01 42   /opt/app/server\n";
	size_t failing = 1;
	for (;; failing++) {
		struct jprof_maps *maps = NULL;
		struct jprof_error err = { 0 };
		shortmem_arm(failing);
		int rc = jprof_maps_parse(text, strlen(text), "maps", &maps, &err);
		size_t calls = shortmem_disarm();
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
