/* Every exported function that can run out of memory, by itself: each of its allocations fails once. The result is
 * JPROF_E_NOMEM and the out parameter is untouched, or the function did without. The leak checker of a developer's
 * build looks at what is left. */
#include <fcntl.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "harness.h"
#include "jprof-live.h"
#include "liveagent.h"
#include "shortmem.h"

/* Inputs, made with all memory there is. */
static struct {
	char *heap, *pprof, *bundle;
	size_t heap_len, pprof_len, bundle_len;
	char gz[64], jprof[64];
	struct jprof_dump *dump;
	struct jprof_profile *profile, *named;    /* as read; symbolized */
	struct jprof_view *view, *threads;        /* of `named`; of another with thread labels */
	struct jprof_profile *labelled, *bundled; /* the latter with names of its own, not symbolized */
	struct jprof_bundle *made;
	struct jprof_processes *processes;
	int pid;
} in;

static const char sidecar[] = "{\"jprof_agent\": 1, \"pid\": 7, \"program\": \"/opt/app/server\",\n"
			      " \"objects\": [{\"path\": \"/x\", \"base\": \"0x400000\", \"build_id\": \"ab\"}]}";

static const char raw_text[] = "--- symbol\nbinary=/opt/x\n0x401233 main--row\n---\n--- heap\nheap_v2/524288\n"
			       "  t*: 1: 64 [0: 0]\n@ 0x401234 0x401334\n  t*: 1: 64 [0: 0]\n\nMAPPED_LIBRARIES:\n"
			       "00400000-00500000 r-xp 00000000 08:01 42 /opt/app/server\n";
static const char gperf_text[] = "heap profile: 1: 64 [1: 64] @ heap/524288\n1: 64 [1: 64] @ 0x401234 0x401334\n"
				 "MAPPED_LIBRARIES:\nbuild=/opt\n00400000-00500000 r-xp 00000000 08:01 42 $build/x\n";
static const char maps_text[] = "00400000-00500000 r-xp 00000000 08:01 42   /opt/app/server\n"
				"00600000-00700000 r-xp 00000000 08:01 42   /opt/app/b\\012b\n";

static const struct jprof_symbolize_opts files = { .size = sizeof files, .sysroot = SAMPLES "/heaps/sysroot" };
static const struct jprof_view_opts by_line = { .size = sizeof by_line,
	                                        .counter = JPROF_INUSE_SPACE,
	                                        .granularity = JPROF_BY_LINE,
	                                        .fold = JPROF_FOLD_VM,
	                                        .focus = "row",
	                                        .ignore = "none",
	                                        .exclude = "main",
	                                        .errors = true };
static const struct jprof_report_opts report = { .size = sizeof report,
	                                         .pattern = "^(row|main|work)",
	                                         .source_path = SAMPLES "/heaps/src" };

/* What a case is given and makes. `out` is what the function under test gets the address of. */
struct attempt {
	void *out;
	struct jprof_profile *subject; /* a copy of a profile, to be changed */
	struct jprof_bundle_writer *writer;
	struct jprof_error err;
};

static int take(void *context, const void *data, size_t len)
{
	(void)context, (void)data, (void)len;
	return 0;
}

static int add_text(void *context, const void *data, size_t len)
{
	jp_strbuf_add(context, data, len);
	return 0;
}

/* ---- what makes an object ---------------------------------------------------------------------------- */

/* The second name is that of the function that frees. */
#define MAKER(name, type, free_it, call)                                                                               \
	static int name(struct attempt *a)                                                                             \
	{                                                                                                              \
		struct type *out = a->out;                                                                             \
		int rc = call;                                                                                         \
		a->out = out;                                                                                          \
		return rc;                                                                                             \
	}                                                                                                              \
	static void name##_end(struct attempt *a)                                                                      \
	{                                                                                                              \
		free_it(a->out);                                                                                       \
	}

/* clang-format off */
MAKER(maps_parse, jprof_maps, jprof_maps_free, jprof_maps_parse(maps_text, strlen(maps_text), "maps", &out, &a->err))
MAKER(maps_open, jprof_maps, jprof_maps_free, jprof_maps_open("/proc/self/maps", &out, &a->err))
MAKER(dump_parse, jprof_dump, jprof_dump_free, jprof_dump_parse(in.heap, in.heap_len, "d", &out, &a->err))
MAKER(dump_raw, jprof_dump, jprof_dump_free, jprof_dump_parse(raw_text, strlen(raw_text), "d", &out, &a->err))
MAKER(dump_gperf, jprof_dump, jprof_dump_free, jprof_dump_parse(gperf_text, strlen(gperf_text), "d", &out, &a->err))
MAKER(dump_open, jprof_dump, jprof_dump_free, jprof_dump_open(SAMPLES "/heaps/hand-4.heap", &out, &a->err))
MAKER(dump_open_gz, jprof_dump, jprof_dump_free, jprof_dump_open(in.gz, &out, &a->err))
MAKER(profile_new, jprof_profile, jprof_profile_free, jprof_profile_new(in.dump, NULL, &out, &a->err))
MAKER(profile_threads, jprof_profile, jprof_profile_free,
      jprof_profile_new(in.dump, &(struct jprof_profile_opts){ .size = sizeof(struct jprof_profile_opts), .thread = "*" },
                        &out, &a->err))
MAKER(profile_text, jprof_profile, jprof_profile_free,
      jprof_profile_parse(in.heap, in.heap_len, "d", NULL, &out, &a->err))
MAKER(profile_raw, jprof_profile, jprof_profile_free,
      jprof_profile_parse(raw_text, strlen(raw_text), "d", NULL, &out, &a->err))
MAKER(profile_pprof, jprof_profile, jprof_profile_free,
      jprof_profile_parse(in.pprof, in.pprof_len, "p", NULL, &out, &a->err))
MAKER(profile_bundle, jprof_profile, jprof_profile_free,
      jprof_profile_parse(in.bundle, in.bundle_len, "b", NULL, &out, &a->err))
MAKER(profile_open, jprof_profile, jprof_profile_free,
      jprof_profile_open(SAMPLES "/heaps/hand-4.heap", NULL, &out, &a->err))
MAKER(profile_open_gz, jprof_profile, jprof_profile_free, jprof_profile_open(in.gz, NULL, &out, &a->err))
MAKER(profile_open_bundle, jprof_profile, jprof_profile_free, jprof_profile_open(in.jprof, NULL, &out, &a->err))
MAKER(bundle_parse, jprof_bundle, jprof_bundle_free, jprof_bundle_parse(in.bundle, in.bundle_len, "b", &out, &a->err))
MAKER(bundle_open, jprof_bundle, jprof_bundle_free, jprof_bundle_open(in.jprof, &out, &a->err))
MAKER(bundle_profile, jprof_profile, jprof_profile_free, jprof_bundle_profile(in.made, 1, NULL, &out, &a->err))
MAKER(bundle_difference, jprof_profile, jprof_profile_free,
      jprof_bundle_difference(in.made, in.made, NULL, &out, &a->err))
MAKER(bundle_writer, jprof_bundle_writer, jprof_bundle_writer_free,
      jprof_bundle_writer_new(NULL, take, NULL, &out, &a->err))
MAKER(table_new, jprof_table, jprof_table_free, jprof_table_new(in.view, NULL, &out, &a->err))
MAKER(graph_new, jprof_graph, jprof_graph_free, jprof_graph_new(in.view, NULL, &out, &a->err))
MAKER(coverage_new, jprof_coverage, jprof_coverage_free, jprof_coverage_new(in.view, &out, &a->err))
MAKER(view_new, jprof_view, jprof_view_free, jprof_view_new(in.named, &by_line, &out, &a->err))
MAKER(view_thread, jprof_view, jprof_view_free, jprof_view_thread(in.threads, 0, &out, &a->err))
MAKER(binary_open, jprof_binary, jprof_binary_free, jprof_binary_open(NULL, "/proc/self/exe", &out, &a->err))
MAKER(processes_new, jprof_processes, jprof_processes_free,
      jprof_processes_new(&(struct jprof_processes_opts){ .size = sizeof(struct jprof_processes_opts),
                                                          .pids = &in.pid, .pid_count = 1 }, &out, &a->err))
MAKER(target_open, jprof_target, jprof_target_free,
      jprof_target_open(jprof_processes_at(in.processes, 0), NULL, &out, &a->err))
/* clang-format on */

static int json_text(struct attempt *a)
{
	char *text = jprof_json_text("a\"b");
	if (!text)
		return a->err.code = JPROF_E_NOMEM;
	a->out = text;
	return 0;
}

static int csv_text(struct attempt *a)
{
	char *text = jprof_csv_text("=a\"b");
	if (!text)
		return a->err.code = JPROF_E_NOMEM;
	a->out = text;
	return 0;
}

static void json_text_end(struct attempt *a)
{
	free(a->out);
}

static void csv_text_end(struct attempt *a)
{
	free(a->out);
}

/* ---- what changes a profile ------------------------------------------------------------------------------ */

static int subtract(struct attempt *a)
{
	return jprof_profile_difference(a->subject, in.profile, &a->err);
}

static int add_bundle(struct attempt *a)
{
	return jprof_profile_add(a->subject, in.bundled, &a->err);
}

static int symbolize(struct attempt *a)
{
	return jprof_profile_symbolize(a->subject, &files, &a->err);
}

/* All that reports tell of a profile, as it is. */
static struct jp_strbuf told(struct jprof_profile *p)
{
	const struct jprof_symbolize_opts none = { .size = sizeof none, .no_lookup = true };
	const struct jprof_view_opts opts = { .size = sizeof opts, .fold = JPROF_FOLD_RAW, .errors = true };
	struct jp_strbuf out = { 0 };
	struct jprof_view *view;
	assert_int_equal(jprof_profile_symbolize(p, &none, NULL), 0);
	assert_int_equal(jprof_view_new(p, &opts, &view, NULL), 0);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(jprof_render(view, i ? "raw" : "json", NULL, add_text, &out, NULL), 0);
	jprof_view_free(view);
	return out;
}

/* A sum that failed leaves its profile as it was, as if it had never been tried. */
static void check_left_alone(struct jprof_profile *p)
{
	static struct jp_strbuf before;
	if (!before.len) {
		struct jprof_profile *fresh;
		assert_int_equal(jprof_profile_new(in.dump, NULL, &fresh, NULL), 0);
		before = told(fresh);
		jprof_profile_free(fresh);
	}
	struct jp_strbuf after;
	after = told(p);
	assert_int_equal(after.len, before.len);
	assert_memory_equal(after.text, before.text, before.len);
	jp_strbuf_release(&after);
}

static int take_sidecar(struct attempt *a)
{
	return jprof_profile_sidecar(a->subject, sidecar, strlen(sidecar), &a->err);
}

/* ---- what writes ------------------------------------------------------------------------------------------- */

static const struct jprof_format *format;

/* Where there is no code or disassembler --disasm has an error of its own. */
static int render(struct attempt *a)
{
	int rc = jprof_render(in.view, format->name, &report, take, NULL, &a->err);
	return rc == JPROF_E_UNSUPPORTED ? 0 : rc;
}

static int render_info(struct attempt *a)
{
	return jprof_render_info(in.view, in.dump, NULL, take, NULL, &a->err);
}

static int write_member(struct attempt *a)
{
	return jprof_bundle_writer_member(a->writer, NULL, &a->err);
}

static int write_file(struct attempt *a)
{
	return jprof_bundle_writer_file(a->writer, "agent.json", sidecar, strlen(sidecar), &a->err);
}

static int write_fd(struct attempt *a)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	int rc = jprof_bundle_writer_fd(a->writer, "maps", fd, &a->err);
	close(fd);
	return rc;
}

static int write_symbols(struct attempt *a)
{
	return jprof_bundle_writer_symbols(a->writer, in.named, true, &a->err);
}

static int write_finish(struct attempt *a)
{
	return jprof_bundle_writer_finish(a->writer, &a->err);
}

static int write_gathered(struct attempt *a)
{
	struct jprof_target *target;
	int rc = jprof_target_open(jprof_processes_at(in.processes, 0), NULL, &target, &a->err);
	if (rc)
		return rc;
	rc = jprof_target_gather(target, true, a->writer, &a->err);
	jprof_target_free(target);
	return rc;
}

/* ---- the cases ------------------------------------------------------------------------------------------------ */

static const struct {
	const char *name;
	int (*run)(struct attempt *a);
	void (*end)(struct attempt *a); /* frees what was made */
} makers[] = {
/* clang-format off */
#define ROW(name) { #name, name, name##_end }
	ROW(maps_parse), ROW(maps_open), ROW(dump_parse), ROW(dump_raw), ROW(dump_gperf), ROW(dump_open),
	ROW(dump_open_gz), ROW(profile_new), ROW(profile_threads), ROW(profile_text), ROW(profile_raw),
	ROW(profile_pprof), ROW(profile_bundle), ROW(profile_open), ROW(profile_open_gz), ROW(profile_open_bundle),
	ROW(bundle_parse), ROW(bundle_open), ROW(bundle_profile), ROW(bundle_difference), ROW(bundle_writer), ROW(table_new),
	ROW(view_new), ROW(view_thread),
	ROW(graph_new), ROW(coverage_new), ROW(binary_open), ROW(processes_new), ROW(target_open), ROW(json_text), ROW(csv_text),
	/* clang-format on */
};

static const struct {
	const char *name;
	int (*run)(struct attempt *a);
	bool all_or_nothing;
} changers[] = {
	{ "difference", subtract, true },
	{ "add", add_bundle, true },
	{ "symbolize", symbolize, false },
	{ "sidecar", take_sidecar, false },
};

static const struct {
	const char *name;
	int (*run)(struct attempt *a);
	bool begun; /* in a member */
} writers[] = {
	{ "writer_member", write_member, false }, { "writer_file", write_file, true },
	{ "writer_fd", write_fd, true },          { "writer_symbols", write_symbols, true },
	{ "writer_finish", write_finish, true },  { "gather", write_gathered, true },
};

/* One attempt with a failing allocation; false when there is none of that number any more. */
static bool attempt(const char *name, int (*run)(struct attempt *a), size_t nth, struct attempt *a, int *wrong)
{
	static char nobody;
	a->out = &nobody;
	shortmem_arm(nth);
	int rc = run(a);
	bool more = shortmem_disarm() >= nth;
	if (rc && (rc != JPROF_E_NOMEM || !more))
		*wrong += complain("%s, allocation %zu: %d %s", name, nth, rc, a->err.text);
	if (rc && a->err.code != rc)
		*wrong += complain("%s, allocation %zu: %d, but the error says %d", name, nth, rc, a->err.code);
	if (rc && a->out != &nobody)
		*wrong += complain("%s, allocation %zu: the out parameter was touched", name, nth);
	if (rc)
		a->out = NULL;
	return more;
}

TEST(test_makers)
{
	int wrong = 0;
	for (size_t i = 0; i < jp_count(makers); i++) {
		size_t nth = 1;
		for (bool more = true; more; nth++) {
			struct attempt a = { 0 };
			more = attempt(makers[i].name, makers[i].run, nth, &a, &wrong);
			makers[i].end(&a);
		}
		if (nth < 3)
			wrong += complain("%s allocates nothing", makers[i].name);
	}
	assert_int_equal(wrong, 0);
}

TEST(test_changers)
{
	int wrong = 0;
	for (size_t i = 0; i < jp_count(changers); i++) {
		bool more = true;
		for (size_t nth = 1; more; nth++) {
			struct attempt a = { 0 };
			assert_int_equal(jprof_profile_new(in.dump, NULL, &a.subject, NULL), 0);
			more = attempt(changers[i].name, changers[i].run, nth, &a, &wrong);
			if (a.err.code && changers[i].all_or_nothing)
				check_left_alone(a.subject);
			jprof_profile_free(a.subject);
		}
	}
	assert_int_equal(wrong, 0);
}

TEST(test_formats)
{
	int wrong = 0;
	for (size_t i = 0; (format = jprof_format_at(i)); i++) {
		bool more = true;
		for (size_t nth = 1; more; nth++) {
			struct attempt a = { 0 };
			more = attempt(format->name, render, nth, &a, &wrong);
		}
	}
	bool more = true;
	for (size_t nth = 1; more; nth++) {
		struct attempt a = { 0 };
		more = attempt("render_info", render_info, nth, &a, &wrong);
	}
	assert_int_equal(wrong, 0);
}

TEST(test_writers)
{
	int wrong = 0;
	for (size_t i = 0; i < jp_count(writers); i++) {
		bool more = true;
		for (size_t nth = 1; more; nth++) {
			struct attempt a = { 0 };
			assert_int_equal(jprof_bundle_writer_new(NULL, take, NULL, &a.writer, NULL), 0);
			if (writers[i].begun)
				assert_int_equal(jprof_bundle_writer_member(a.writer, NULL, NULL), 0);
			if (writers[i].run == write_finish) /* a member without a file is none */
				assert_int_equal(jprof_bundle_writer_file(a.writer, "status", "", 0, NULL), 0);
			more = attempt(writers[i].name, writers[i].run, nth, &a, &wrong);
			jprof_bundle_writer_free(a.writer);
		}
	}
	assert_int_equal(wrong, 0);
}

/* ---- what asks an agent: one in a process of its own ------------------------------------------------------------ */

static struct {
	int pid;
	struct jprof_processes *processes;
	struct jprof_target *target;
	struct jprof_agent *agent;
} live;

MAKER(agent_connect, jprof_agent, jprof_agent_free,
      jprof_agent_connect(jprof_processes_at(live.processes, 0), NULL, &out, &a->err))

static int agent_report(struct attempt *a)
{
	const struct jprof_agent_report *report;
	return jprof_agent_report(live.agent, &report, &a->err);
}

static int agent_stats(struct attempt *a)
{
	const char *json;
	return jprof_agent_stats(live.agent, &json, &a->err);
}

static int agent_set_active(struct attempt *a)
{
	bool was;
	return jprof_agent_set_active(live.agent, true, &was, &a->err);
}

static int agent_dump(struct attempt *a)
{
	const struct jprof_agent_dump *dump;
	struct jprof_dump_file *file = NULL, *beside = NULL;
	int rc = jprof_agent_dump(live.agent, NULL, &dump, &a->err);
	rc = rc ? rc : jprof_agent_files(live.agent, live.target, &file, &beside, &a->err);
	jprof_dump_file_free(file);
	jprof_dump_file_free(beside);
	return rc;
}

static void connect_again(void)
{
	jprof_agent_free(live.agent);
	assert_int_equal(jprof_agent_connect(jprof_processes_at(live.processes, 0), NULL, &live.agent, NULL), 0);
}

static void check_asking(const char *name, int (*run)(struct attempt *a), void (*end)(struct attempt *a), int *wrong)
{
	bool more = true;
	size_t nth = 1;
	for (; more; nth++) {
		struct attempt a = { 0 };
		more = attempt(name, run, nth, &a, wrong);
		if (end)
			end(&a);
		else if (a.err.code) /* a failed request may end the connection */
			connect_again();
	}
	if (nth < 3)
		*wrong += complain("%s allocates nothing", name);
}

TEST(test_asking)
{
	int wrong = 0;
	live.pid = liveagent_start(getenv("JPROF_AGENT_SO"));
	if (!live.pid)
		skip();
	const struct jprof_processes_opts opts = { .size = sizeof opts, .pids = &live.pid, .pid_count = 1 };
	assert_int_equal(jprof_processes_new(&opts, &live.processes, NULL), 0);
	assert_int_equal(jprof_target_open(jprof_processes_at(live.processes, 0), NULL, &live.target, NULL), 0);
	check_asking("agent_connect", agent_connect, agent_connect_end, &wrong);
	assert_int_equal(jprof_agent_connect(jprof_processes_at(live.processes, 0), NULL, &live.agent, NULL), 0);
	check_asking("agent_report", agent_report, NULL, &wrong);
	check_asking("agent_stats", agent_stats, NULL, &wrong);
	check_asking("agent_set_active", agent_set_active, NULL, &wrong);
	check_asking("agent_dump", agent_dump, NULL, &wrong);
	jprof_agent_free(live.agent);
	jprof_target_free(live.target);
	jprof_processes_free(live.processes);
	liveagent_end(live.pid);
	assert_int_equal(wrong, 0);
}

/* ---- the inputs ----------------------------------------------------------------------------------------------- */

static void add_member(struct jprof_bundle_writer *w)
{
	assert_int_equal(jprof_bundle_writer_member(w, NULL, NULL), 0);
	assert_int_equal(jprof_bundle_writer_file(w, "agent.json", sidecar, strlen(sidecar), NULL), 0);
	assert_int_equal(jprof_bundle_writer_file(w, "dump.heap", in.heap, in.heap_len, NULL), 0);
	assert_int_equal(jprof_bundle_writer_symbols(w, in.named, true, NULL), 0);
}

static void write_to(char path[64], const void *data, size_t len)
{
	strcpy(path, "/tmp/jprof-untouched-XXXXXX");
	int fd = mkstemp(path);
	assert_true(fd >= 0 && write(fd, data, len) == (ssize_t)len);
	close(fd);
}

static void make_bundle(void)
{
	struct jprof_bundle_writer *w;
	struct jp_strbuf out = { 0 };
	assert_int_equal(jprof_bundle_writer_new(NULL, add_text, &out, &w, NULL), 0);
	add_member(w);
	add_member(w);
	assert_int_equal(jprof_bundle_writer_finish(w, NULL), 0);
	jprof_bundle_writer_free(w);
	in.bundle = out.text;
	in.bundle_len = out.len;
	assert_int_equal(jprof_bundle_parse(in.bundle, in.bundle_len, "b", &in.made, NULL), 0);
	write_to(in.jprof, in.bundle, in.bundle_len);
}

/* profile.proto comes compressed; it is what a .gz is made of, too. */
static void make_files(void)
{
	struct jp_strbuf out = { 0 };
	assert_int_equal(jprof_render(in.view, "proto", NULL, add_text, &out, NULL), 0);
	in.pprof = out.text;
	in.pprof_len = out.len;
	write_to(in.gz, "", 0);
	char command[160];
	snprintf(command, sizeof command, "gzip -9nc <" SAMPLES "/heaps/hand-4.heap >%s", in.gz);
	assert_int_equal(system(command), 0);
}

FIXTURE(set_up)
{
	in.pid = getpid();
	in.heap = read_whole(SAMPLES "/heaps/jemalloc-5.3.0.heap", &in.heap_len);
	assert_int_equal(jprof_dump_parse(in.heap, in.heap_len, "d", &in.dump, NULL), 0);
	assert_int_equal(jprof_profile_new(in.dump, NULL, &in.profile, NULL), 0);
	assert_int_equal(jprof_profile_new(in.dump, NULL, &in.named, NULL), 0);
	assert_int_equal(jprof_profile_symbolize(in.named, &files, NULL), 0);
	const struct jprof_profile_opts all = { .size = sizeof all, .thread = "*" };
	assert_int_equal(jprof_profile_new(in.dump, &all, &in.labelled, NULL), 0);
	assert_int_equal(jprof_profile_symbolize(in.labelled, &files, NULL), 0);
	assert_int_equal(jprof_view_new(in.named, &by_line, &in.view, NULL), 0);
	assert_int_equal(jprof_view_new(in.labelled, NULL, &in.threads, NULL), 0);
	make_bundle();
	assert_int_equal(jprof_bundle_profile(in.made, 0, &all, &in.bundled, NULL), 0);
	make_files();
	const struct jprof_processes_opts opts = { .size = sizeof opts, .pids = &in.pid, .pid_count = 1 };
	return jprof_processes_new(&opts, &in.processes, NULL);
}

FIXTURE(tear_down)
{
	unlink(in.gz);
	unlink(in.jprof);
	jprof_processes_free(in.processes);
	jprof_bundle_free(in.made);
	jprof_view_free(in.view);
	jprof_view_free(in.threads);
	jprof_profile_free(in.labelled);
	jprof_profile_free(in.bundled);
	jprof_profile_free(in.named);
	jprof_profile_free(in.profile);
	jprof_dump_free(in.dump);
	free(in.heap);
	free(in.pprof);
	free(in.bundle);
	return 0;
}

TESTS_BETWEEN(set_up, tear_down)
