/* What a program may do wrong with jprof.h: each mistake has its code and a sentence, leaves the result as it was, and
 * does no harm where the caller wants no sentence. */
#include "harness.h"

#define DUMP                                                                                                           \
	"heap_v2/524288\n"                                                                                             \
	"  t*: 2: 300 [0: 0]\n"                                                                                        \
	"  t1: 2: 300 [0: 0] main\n"                                                                                   \
	"@ 0x401001 0x402001\n"                                                                                        \
	"  t*: 1: 100 [0: 0]\n"                                                                                        \
	"  t1: 1: 100 [0: 0]\n"                                                                                        \
	"@ 0x403001 0x402001\n"                                                                                        \
	"  t*: 1: 200 [0: 0]\n"                                                                                        \
	"  t1: 1: 200 [0: 0]\n"                                                                                        \
	"\nMAPPED_LIBRARIES:\n"                                                                                        \
	"00400000-00500000 r-xp 00000000 00:00 0\n"

/* What the mistakes are made with: a profile as it was read, one with its names, a view of that. */
struct things {
	struct jprof_dump *dump;
	struct jprof_profile *raw;
	struct jprof_profile *named;
	struct jprof_view *view;
	struct jprof_view *view_with_errors;
};

static int set_up(void **state)
{
	static struct things things;
	const struct jprof_view_opts errors = { .size = sizeof errors, .errors = true };
	things.dump = dump_of(DUMP);
	things.raw = profile_of(DUMP);
	things.named = profile_of(DUMP);
	*state = &things;
	return jprof_profile_symbolize(things.named, NULL, NULL) ||
	       jprof_view_new(things.named, NULL, &things.view, NULL) ||
	       jprof_view_new(things.named, &errors, &things.view_with_errors, NULL);
}

static int tear_down(void **state)
{
	struct things *t = *state;
	jprof_view_free(t->view_with_errors);
	jprof_view_free(t->view);
	jprof_profile_free(t->named);
	jprof_profile_free(t->raw);
	jprof_dump_free(t->dump);
	return 0;
}

static int drop(void *context, const void *data, size_t len)
{
	(void)context, (void)data, (void)len;
	return 0;
}

static int refuse(void *context, const void *data, size_t len)
{
	(void)context, (void)data, (void)len;
	return 1;
}

/* A mistake: the code that it comes to, a part of its sentence, and what is made in vain. */
typedef int mistake_fn(const struct things *t, void **result, struct jprof_error *err);

struct mistake {
	const char *what;
	mistake_fn *make;
	int code;
	const char *part;
};

/* "--option", not "<-- HERE". */
static bool names_option(const char *text)
{
	for (const char *s = text; (s = strstr(s, "--")); s += 2)
		if ((s == text || s[-1] == ' ') && s[2] >= 'a' && s[2] <= 'z')
			return true;
	return false;
}

/* For people, in words, and without the options of a program. */
static bool is_sentence(const char *text)
{
	size_t words = 1;
	for (const char *s = text; *s; s++)
		words += *s == ' ';
	return words >= 3 && !names_option(text);
}

/* What is wrong with the answer to a mistake; NULL: nothing. */
static const char *fault_of(const struct things *t, const struct mistake *m, struct jprof_error *err)
{
	char line[JPROF_ERROR_LINE], untouched;
	void *result = &untouched;
	if (m->make(t, &result, err) != m->code || err->code != m->code)
		return "not the right code";
	if (result != &untouched)
		return "the result was touched";
	if (!is_sentence(err->text) || !strstr(err->text, m->part))
		return "not such a sentence";
	if (!strstr(jprof_error_line(err, line, sizeof line), err->text) || strchr(line, '\n'))
		return "not in its line";
	return m->make(t, &result, NULL) == m->code ? NULL : "another code where no sentence is wanted";
}

static int check(const struct things *t, const struct mistake *m)
{
	struct jprof_error err = { .code = 1 };
	const char *fault = fault_of(t, m, &err);
	return fault ? complain("%s: %s: %d %s", m->what, fault, err.code, err.text) : 0;
}

static void check_all(void **state, const struct mistake *mistakes, size_t count)
{
	int wrong = 0;
	for (size_t i = 0; i < count; i++)
		wrong += check(*state, &mistakes[i]);
	assert_int_equal(wrong, 0);
}

#define MISTAKE(name) static int name(const struct things *t, void **result, struct jprof_error *err)

/* ---- options without their size ----------------------------------------------------------------------- */

MISTAKE(unsized_profile_new)
{
	const struct jprof_profile_opts opts = { .thread = "1" };
	return jprof_profile_new(t->dump, &opts, (struct jprof_profile **)result, err);
}

MISTAKE(unsized_profile_parse)
{
	const struct jprof_profile_opts opts = { .thread = "1" };
	(void)t;
	return jprof_profile_parse(DUMP, strlen(DUMP), "a.heap", &opts, (struct jprof_profile **)result, err);
}

MISTAKE(unsized_profile_open)
{
	const struct jprof_profile_opts opts = { .thread = "1" };
	(void)t;
	return jprof_profile_open(SAMPLES "/heaps/jemalloc-5.3.0.heap", &opts, (struct jprof_profile **)result, err);
}

MISTAKE(unsized_symbolize)
{
	const struct jprof_symbolize_opts opts = { .no_lookup = true };
	(void)result;
	return jprof_profile_symbolize(t->raw, &opts, err);
}

MISTAKE(unsized_view)
{
	const struct jprof_view_opts opts = { .counter = JPROF_INUSE_SPACE };
	return jprof_view_new(t->named, &opts, (struct jprof_view **)result, err);
}

MISTAKE(labels_and_errors)
{
	const struct jprof_view_opts opts = { .size = sizeof opts, .labels = true, .errors = true };
	return jprof_view_new(t->named, &opts, (struct jprof_view **)result, err);
}

MISTAKE(unsized_table)
{
	const struct jprof_table_opts opts = { .top = 5 };
	return jprof_table_new(t->view, &opts, (struct jprof_table **)result, err);
}

MISTAKE(unsized_graph)
{
	const struct jprof_graph_opts opts = { .nodecount = 5 };
	return jprof_graph_new(t->view, &opts, (struct jprof_graph **)result, err);
}

MISTAKE(unsized_report)
{
	const struct jprof_report_opts opts = { .top = 5 };
	(void)result;
	return jprof_render(t->view, "text", &opts, drop, NULL, err);
}

MISTAKE(unsized_writer)
{
	const struct jprof_bundle_writer_opts opts = { .label = "boot" };
	(void)t;
	return jprof_bundle_writer_new(&opts, drop, NULL, (struct jprof_bundle_writer **)result, err);
}

MISTAKE(size_of_a_pointer_less_one)
{
	const struct jprof_table_opts opts = { .size = sizeof(size_t) - 1, .top = 5 };
	return jprof_table_new(t->view, &opts, (struct jprof_table **)result, err);
}

/* Nothing beyond the struct is looked at: the sanitizer would see it. */
MISTAKE(size_of_all_memory)
{
	const struct jprof_table_opts opts = { .size = SIZE_MAX };
	return jprof_table_new(t->view, &opts, (struct jprof_table **)result, err);
}

MISTAKE(size_of_pages)
{
	const struct jprof_graph_opts opts = { .size = 1 << 20 };
	return jprof_graph_new(t->view, &opts, (struct jprof_graph **)result, err);
}

MISTAKE(size_within_a_member)
{
	const struct jprof_view_opts opts = { .size = offsetof(struct jprof_view_opts, focus) + 3, .focus = "x" };
	return jprof_view_new(t->named, &opts, (struct jprof_view **)result, err);
}

MISTAKE(opener_that_opens_nothing)
{
	const struct jprof_opener opener = { 0 };
	const struct jprof_symbolize_opts opts = { .size = sizeof opts, .live_pid = 1, .opener = &opener };
	(void)result;
	return jprof_profile_symbolize(t->raw, &opts, err);
}

TEST(test_options_without_size)
{
	static const struct mistake mistakes[] = {
		{ "profile_new", unsized_profile_new, JPROF_E_ARGUMENT, ".size = sizeof" },
		{ "profile_parse", unsized_profile_parse, JPROF_E_ARGUMENT, ".size = sizeof" },
		{ "profile_open", unsized_profile_open, JPROF_E_ARGUMENT, ".size = sizeof" },
		{ "symbolize", unsized_symbolize, JPROF_E_ARGUMENT, ".size = sizeof" },
		{ "view", unsized_view, JPROF_E_ARGUMENT, ".size = sizeof" },
		{ "labels", labels_and_errors, JPROF_E_ARGUMENT, "neither errors nor ages" },
		{ "table", unsized_table, JPROF_E_ARGUMENT, ".size = sizeof" },
		{ "graph", unsized_graph, JPROF_E_ARGUMENT, ".size = sizeof" },
		{ "report", unsized_report, JPROF_E_ARGUMENT, ".size = sizeof" },
		{ "bundle writer", unsized_writer, JPROF_E_ARGUMENT, ".size = sizeof" },
		{ "a size of all memory", size_of_all_memory, JPROF_E_ARGUMENT, ".size = sizeof" },
		{ "a size of more than a page", size_of_pages, JPROF_E_ARGUMENT, ".size = sizeof" },
		{ "a size within a member", size_within_a_member, JPROF_E_ARGUMENT, ".size = sizeof" },
		{ "a size below its own", size_of_a_pointer_less_one, JPROF_E_ARGUMENT, ".size = sizeof" },
	};
	check_all(state, mistakes, jp_count(mistakes));
}

/* ---- what does not exist --------------------------------------------------------------------------------- */

static int view_with(const struct things *t, struct jprof_view_opts opts, void **result, struct jprof_error *err)
{
	opts.size = sizeof opts;
	return jprof_view_new(t->named, &opts, (struct jprof_view **)result, err);
}

static int report_as(const struct jprof_view *view, const char *format, const char *pattern, struct jprof_error *err)
{
	const struct jprof_report_opts opts = { .size = sizeof opts, .pattern = pattern };
	return jprof_render(view, format, &opts, drop, NULL, err);
}

MISTAKE(unknown_counter)
{
	return view_with(t, (struct jprof_view_opts){ .counter = JPROF_COUNTERS }, result, err);
}

MISTAKE(negative_counter)
{
	return view_with(t, (struct jprof_view_opts){ .counter = (enum jprof_counter) - 1 }, result, err);
}

MISTAKE(unknown_granularity)
{
	return view_with(t, (struct jprof_view_opts){ .granularity = JPROF_BY_TAG + 1 }, result, err);
}

MISTAKE(unknown_fold)
{
	return view_with(t, (struct jprof_view_opts){ .fold = JPROF_FOLD_RAW + 1 }, result, err);
}

MISTAKE(unknown_thread_of_a_view)
{
	return view_with(t, (struct jprof_view_opts){ .thread = "no such one" }, result, err);
}

MISTAKE(unknown_thread_of_a_dump)
{
	const struct jprof_profile_opts opts = { .size = sizeof opts, .thread = "4711" };
	return jprof_profile_new(t->dump, &opts, (struct jprof_profile **)result, err);
}

MISTAKE(taken_twice)
{
	struct jprof_dump *dump;
	struct jprof_profile *first;
	(void)t;
	int rc = jprof_dump_open(SAMPLES "/heaps/hand-4.heap", &dump, err);
	assert_int_equal(rc, 0);
	assert_int_equal(jprof_profile_take(dump, NULL, &first, err), 0);
	assert_true(jprof_dump_info(dump)->stacks && jprof_dump_maps(dump));
	rc = jprof_profile_new(dump, NULL, (struct jprof_profile **)result, err);
	jprof_profile_free(first);
	jprof_dump_free(dump);
	return rc;
}

MISTAKE(unknown_format)
{
	(void)result;
	return report_as(t->view, "tekst", NULL, err);
}

MISTAKE(faulty_focus)
{
	return view_with(t, (struct jprof_view_opts){ .focus = "(" }, result, err);
}

MISTAKE(faulty_retain)
{
	return view_with(t, (struct jprof_view_opts){ .retain = "[" }, result, err);
}

MISTAKE(faulty_peek)
{
	(void)result;
	return report_as(t->view, "peek", "(", err);
}

MISTAKE(peek_without_pattern)
{
	(void)result;
	return report_as(t->view, "peek", NULL, err);
}

MISTAKE(list_without_pattern)
{
	(void)result;
	return report_as(t->view, "list", "", err);
}

MISTAKE(peek_at_nothing)
{
	(void)result;
	return report_as(t->view, "peek", "no_such_function", err);
}

MISTAKE(list_of_nothing)
{
	(void)result;
	return report_as(t->view, "list", "no_such_function", err);
}

MISTAKE(no_sysroot)
{
	const struct jprof_symbolize_opts opts = { .size = sizeof opts, .sysroot = SAMPLES "/no-such-folder" };
	(void)result;
	return jprof_profile_symbolize(t->raw, &opts, err);
}

MISTAKE(no_perf_map)
{
	const struct jprof_symbolize_opts opts = { .size = sizeof opts, .perf_map = SAMPLES "/no-such-file" };
	(void)result;
	return jprof_profile_symbolize(t->raw, &opts, err);
}

MISTAKE(no_dump)
{
	(void)t;
	return jprof_profile_open(SAMPLES "/no-such-file", NULL, (struct jprof_profile **)result, err);
}

MISTAKE(no_profile)
{
	(void)t;
	return jprof_profile_open(SAMPLES "/heaps/README.md", NULL, (struct jprof_profile **)result, err);
}

TEST(test_what_does_not_exist)
{
	static const struct mistake mistakes[] = {
		{ "counter", unknown_counter, JPROF_E_ARGUMENT, "counter 4" },
		{ "counter below 0", negative_counter, JPROF_E_ARGUMENT, "counter" },
		{ "granularity", unknown_granularity, JPROF_E_ARGUMENT, "granularity 9" },
		{ "fold", unknown_fold, JPROF_E_ARGUMENT, "fold 5" },
		{ "thread of a view", unknown_thread_of_a_view, JPROF_E_ARGUMENT, "no thread no such one" },
		{ "thread of a dump", unknown_thread_of_a_dump, JPROF_E_ARGUMENT, "no thread 4711" },
		{ "a dump taken twice", taken_twice, JPROF_E_ARGUMENT, "open the dump again" },
		{ "format", unknown_format, JPROF_E_ARGUMENT, "no such report format: tekst" },
		{ "focus", faulty_focus, JPROF_E_ARGUMENT, "focus" },
		{ "retain", faulty_retain, JPROF_E_ARGUMENT, "retain" },
		{ "pattern of peek", faulty_peek, JPROF_E_ARGUMENT, "peek" },
		{ "peek without pattern", peek_without_pattern, JPROF_E_ARGUMENT, "give a pattern" },
		{ "list without pattern", list_without_pattern, JPROF_E_ARGUMENT, "give a pattern" },
		{ "peek at nothing", peek_at_nothing, JPROF_E_ARGUMENT, "no_such_function" },
		{ "list of nothing", list_of_nothing, JPROF_E_ARGUMENT, "no_such_function" },
		{ "sysroot", no_sysroot, JPROF_E_IO, "directory" },
		{ "perf map", no_perf_map, JPROF_E_IO, "" },
		{ "opener", opener_that_opens_nothing, JPROF_E_ARGUMENT, "jprof_profile_symbolize: NULL" },
		{ "dump", no_dump, JPROF_E_IO, "" },
		{ "no profile", no_profile, JPROF_E_FORMAT, "" },
	};
	check_all(state, mistakes, jp_count(mistakes));
}

/* ---- too early, too late, for another view --------------------------------------------------------------- */

MISTAKE(view_before_names)
{
	return jprof_view_new(t->raw, NULL, (struct jprof_view **)result, err);
}

MISTAKE(add_after_names)
{
	(void)result;
	return jprof_profile_add(t->named, t->raw, err);
}

MISTAKE(add_what_has_names)
{
	(void)result;
	return jprof_profile_add(t->raw, t->named, err);
}

MISTAKE(difference_after_names)
{
	(void)result;
	return jprof_profile_difference(t->named, t->raw, err);
}

MISTAKE(difference_of_what_has_names)
{
	(void)result;
	return jprof_profile_difference(t->raw, t->named, err);
}

MISTAKE(sidecar_after_names)
{
	static const char sidecar[] = "{\"jprof_sidecar\":1}";
	(void)result;
	return jprof_profile_sidecar(t->named, sidecar, strlen(sidecar), err);
}

MISTAKE(both_sides_of_no_difference)
{
	(void)result;
	return report_as(t->view, "diff-collapsed", NULL, err);
}

MISTAKE(csv_without_errors)
{
	(void)result;
	return report_as(t->view, "csv", NULL, err);
}

MISTAKE(json_without_errors)
{
	(void)result;
	return report_as(t->view, "json", NULL, err);
}

MISTAKE(writer_that_fails)
{
	(void)result;
	return jprof_render(t->view, "text", NULL, refuse, NULL, err);
}

MISTAKE(info_writer_that_fails)
{
	(void)result;
	return jprof_render_info(t->view_with_errors, NULL, NULL, refuse, NULL, err);
}

TEST(test_order)
{
	static const struct mistake mistakes[] = {
		{ "a view before names", view_before_names, JPROF_E_ARGUMENT, "call jprof_profile_symbolize first" },
		{ "add after names", add_after_names, JPROF_E_ARGUMENT, "before jprof_profile_symbolize" },
		{ "add what has names", add_what_has_names, JPROF_E_ARGUMENT, "before jprof_profile_symbolize" },
		{ "difference after names", difference_after_names, JPROF_E_ARGUMENT,
		  "before jprof_profile_symbolize" },
		{ "difference of what has names", difference_of_what_has_names, JPROF_E_ARGUMENT,
		  "before jprof_profile_symbolize" },
		{ "sidecar after names", sidecar_after_names, JPROF_E_ARGUMENT, "" },
		{ "diff-collapsed of no difference", both_sides_of_no_difference, JPROF_E_ARGUMENT,
		  "diff-collapsed shows two dumps" },
		{ "csv", csv_without_errors, JPROF_E_ARGUMENT, ".errors = true" },
		{ "json", json_without_errors, JPROF_E_ARGUMENT, ".errors = true" },
		{ "a writer that fails", writer_that_fails, JPROF_E_WRITE, "written" },
		{ "a writer of info that fails", info_writer_that_fails, JPROF_E_WRITE, "written" },
	};
	check_all(state, mistakes, jp_count(mistakes));
}

/* ---- bundles ------------------------------------------------------------------------------------------------ */

static int write_bundle(const struct things *t,
                        int step(struct jprof_bundle_writer *, const struct things *, struct jprof_error *),
                        struct jprof_error *err)
{
	struct jprof_bundle_writer *writer;
	assert_int_equal(jprof_bundle_writer_new(NULL, drop, NULL, &writer, NULL), 0);
	int rc = step(writer, t, err);
	jprof_bundle_writer_free(writer);
	return rc;
}

static int finish(struct jprof_bundle_writer *w, const struct things *t, struct jprof_error *err)
{
	(void)t;
	return jprof_bundle_writer_finish(w, err);
}

static int file_first(struct jprof_bundle_writer *w, const struct things *t, struct jprof_error *err)
{
	(void)t;
	return jprof_bundle_writer_file(w, "dump.heap", DUMP, strlen(DUMP), err);
}

static int file_outside(struct jprof_bundle_writer *w, const struct things *t, struct jprof_error *err)
{
	(void)t;
	assert_int_equal(jprof_bundle_writer_member(w, NULL, NULL), 0);
	return jprof_bundle_writer_file(w, "../dump.heap", DUMP, strlen(DUMP), err);
}

static int file_twice(struct jprof_bundle_writer *w, const struct things *t, struct jprof_error *err)
{
	assert_int_equal(jprof_bundle_writer_member(w, NULL, NULL), 0);
	assert_int_equal(file_first(w, t, NULL), 0);
	return file_first(w, t, err);
}

static int unsized(struct jprof_bundle_writer *w, const struct things *t, struct jprof_error *err)
{
	(void)t;
	return jprof_bundle_writer_member(w, &(const struct jprof_bundle_member){ .name = "1" }, err);
}

static int symbols_before_names(struct jprof_bundle_writer *w, const struct things *t, struct jprof_error *err)
{
	assert_int_equal(jprof_bundle_writer_member(w, NULL, NULL), 0);
	assert_int_equal(file_first(w, t, NULL), 0);
	return jprof_bundle_writer_symbols(w, t->raw, true, err);
}

#define BUNDLE_MISTAKE(name, step)                                                                                     \
	MISTAKE(name)                                                                                                  \
	{                                                                                                              \
		(void)result;                                                                                          \
		return write_bundle(t, step, err);                                                                     \
	}

BUNDLE_MISTAKE(empty_bundle, finish)
BUNDLE_MISTAKE(file_without_member, file_first)
BUNDLE_MISTAKE(file_with_a_path, file_outside)
BUNDLE_MISTAKE(same_file_twice, file_twice)
BUNDLE_MISTAKE(unsized_member, unsized)
BUNDLE_MISTAKE(unnamed_symbols, symbols_before_names)

MISTAKE(unknown_compression)
{
	const struct jprof_bundle_writer_opts opts = { .size = sizeof opts, .compression = JPROF_COMPRESS_GZIP + 1 };
	struct jprof_bundle_writer *writer = NULL;
	(void)t, (void)result;
	int rc = jprof_bundle_writer_new(&opts, drop, NULL, &writer, err);
	jprof_bundle_writer_free(writer);
	return rc;
}

TEST(test_bundles)
{
	static const struct mistake mistakes[] = {
		{ "without a member", empty_bundle, JPROF_E_ARGUMENT, "member" },
		{ "a file before a member", file_without_member, JPROF_E_ARGUMENT, "member" },
		{ "a path as name", file_with_a_path, JPROF_E_ARGUMENT, "A-Za-z0-9._-" },
		{ "a file twice", same_file_twice, JPROF_E_ARGUMENT, "already" },
		{ "a member without size", unsized_member, JPROF_E_ARGUMENT, ".size = sizeof" },
		{ "compression", unknown_compression, JPROF_E_ARGUMENT, "compression 3" },
		{ "symbols before names", unnamed_symbols, JPROF_E_ARGUMENT, "" },
	};
	check_all(state, mistakes, jp_count(mistakes));
}

/* A refused call leaves its profile as it was. */
TEST(test_nothing_is_changed)
{
	const struct things *t = *state;
	assert_near(jprof_profile_total(t->raw, JPROF_INUSE_SPACE), jprof_profile_total(t->named, JPROF_INUSE_SPACE));
	assert_int_equal(jprof_profile_info(t->raw)->inputs, 1);
	assert_int_equal(jprof_profile_info(t->named)->inputs, 1);
	assert_int_equal(jprof_profile_add(t->raw, t->raw, NULL), 0);
}

TESTS_BETWEEN(set_up, tear_down)
