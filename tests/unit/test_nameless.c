/* A lean profile shows the same as one whose nameless locations have functions, and refuses what it cannot show. */
#include "base/strbuf.h"
#include "harness.h"

/* Two files of one base name with equal and other offsets, an address outside all, a region without a file. */
#define LIKE_EACH_OTHER                                                                                                \
	"@ 0x10000010 0x20000021 0x77\n  t*: 2: 2000 [0: 0]\n"                                                         \
	"@ 0x20000010 0x10000031 0x77\n  t*: 1: 500 [0: 0]\n"                                                          \
	"@ 0x10000010 0x10000101 0x10001001 0x78\n  t*: 3: 700 [0: 0]\n"                                               \
	"@ 0x50000010 0x10000101 0x50000101\n  t*: 3: 700 [0: 0]\n"                                                    \
	"@ 0x30000000 0x30000000\n  t*: 1: 64 [0: 0]\n"                                                                \
	"\nMAPPED_LIBRARIES:\n"                                                                                        \
	"10000000-10100000 r-xp 00000000 08:01 42 /opt/a/libx.so\n"                                                    \
	"20000000-20100000 r-xp 00000000 08:01 43 /opt/b/libx.so\n"                                                    \
	"30000000-30100000 r-xp 00000000 08:01 44 /opt/a/\n"                                                           \
	"50000000-50100000 r-xp 00000000 00:00 0 \n"

static const char unnamed[] = "heap_v2/1\n" LIKE_EACH_OTHER;
static const char named[] =
    "--- symbol\nbinary=/opt/x\n0x20000020 libx+0x100\n0x10000030 0x76\n0x50000010 libx+0x1000\n"
    "---\n--- heap\nheap_v2/1\n" LIKE_EACH_OTHER;

static struct jprof_profile *read_named(const char *text, bool lean)
{
	const struct jprof_symbolize_opts opts = { .size = sizeof opts, .no_lookup = true, .lean = lean };
	struct jprof_profile *p;
	assert_int_equal(jprof_profile_parse(text, strlen(text), "x", NULL, &p, NULL), 0);
	assert_int_equal(jprof_profile_symbolize(p, &opts, NULL), 0);
	return p;
}

static int add_piece(void *context, const void *data, size_t len)
{
	jp_strbuf_add(context, data, len);
	return 0;
}

static char *text_of_view(const struct jprof_profile *p, const struct jprof_view_opts *opts, bool cum)
{
	const struct jprof_report_opts report = { .size = sizeof report, .cum = cum, .show_bytes = true };
	struct jp_strbuf text = { 0 };
	struct jprof_view *view;
	assert_int_equal(jprof_view_new(p, opts, &view, NULL), 0);
	assert_int_equal(jprof_render(view, "text", &report, add_piece, &text, NULL), 0);
	jp_strbuf_printf(&text, "%zu rows\n", jprof_view_info(view)->rows);
	jprof_view_free(view);
	return text.text;
}

TEST(test_same_text)
{
	static const char *const texts[] = { unnamed, named };
	static const struct jprof_view_opts views[] = {
		{ .size = sizeof *views },
		{ .size = sizeof *views, .granularity = JPROF_BY_ADDRESS },
		{ .size = sizeof *views, .granularity = JPROF_BY_LINE },
		{ .size = sizeof *views, .granularity = JPROF_BY_FILE },
		{ .size = sizeof *views, .granularity = JPROF_BY_LIBRARY },
		{ .size = sizeof *views, .granularity = JPROF_BY_SITE },
		{ .size = sizeof *views, .fold = JPROF_FOLD_RAW },
		{ .size = sizeof *views, .fold = JPROF_FOLD_VM },
		{ .size = sizeof *views, .focus = "libx.0x100" },
		{ .size = sizeof *views, .ignore = "^0x77" },
		{ .size = sizeof *views, .retain = "x.*1" },
		{ .size = sizeof *views, .exclude = "libx" },
		{ .size = sizeof *views, .focus = "[?]:0" },
	};
	for (size_t t = 0; t < jp_count(texts); t++) {
		struct jprof_profile *full = read_named(texts[t], false), *lean = read_named(texts[t], true);
		for (size_t i = 0; i < 2 * jp_count(views); i++) {
			char *wanted = text_of_view(full, &views[i / 2], i % 2);
			char *got = text_of_view(lean, &views[i / 2], i % 2);
			assert_string_equal(got, wanted);
			free(wanted);
			free(got);
		}
		jprof_profile_free(full);
		jprof_profile_free(lean);
	}
}

TEST(test_refusals)
{
	static const char *const formats[] = { "json", "collapsed", "raw", "proto", "tree", "csv" };
	struct jprof_profile *p = read_named(unnamed, true);
	const struct jprof_view_opts errors = { .size = sizeof errors, .errors = true };
	struct jprof_error err = { 0 };
	struct jprof_view *view;
	struct jprof_graph *graph;
	assert_int_equal(jprof_view_new(p, &errors, &view, &err), JPROF_E_ARGUMENT);
	assert_contains(err.text, "lean");
	assert_int_equal(jprof_view_new(p, NULL, &view, &err), 0);
	for (size_t i = 0; i < jp_count(formats); i++)
		assert_int_equal(jprof_render(view, formats[i], NULL, add_piece, NULL, &err), JPROF_E_ARGUMENT);
	assert_int_equal(jprof_graph_new(view, NULL, &graph, &err), JPROF_E_ARGUMENT);
	struct jprof_coverage *coverage;
	assert_int_equal(jprof_coverage_new(view, &coverage, &err), 0);
	jprof_coverage_free(coverage);
	struct jprof_frame frames[3];
	assert_int_equal(jprof_profile_frames(p, 0, frames, 3), 3);
	assert_string_equal(frames[0].function, "libx+0x10"); /* there are two of that name */
	assert_string_equal(frames[1].function, "");
	assert_string_equal(frames[1].object, "/opt/b/libx.so");
	jprof_view_free(view);
	jprof_profile_free(p);
}
