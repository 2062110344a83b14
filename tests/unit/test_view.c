/* The order of the stages is in the types: what comes too early or too late is refused with a sentence. And a view does
 * not change, whatever is made of it and of its kin. */
#include "base/strbuf.h"
#include "harness.h"
#include "view/view.h"

#define MAPS                                                                                                           \
	"\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 42   /opt/app/server\n"                            \
	"7f000000-7f100000 r-xp 00000000 08:01 44   /usr/lib/libjemalloc.so.2\n"

static const struct known names[] = {
	{ 0x401000, JPROF_SOURCE_DWARF, "row.c", 10, { "row_new" } },
	{ 0x402000, JPROF_SOURCE_DWARF, "rows.c", 20, { "rows_keep" } },
	{ 0x403000, JPROF_SOURCE_DWARF, "main.c", 30, { "main" } },
	{ 0x404000, JPROF_SOURCE_DWARF, "a.c", 40, { "ruby_xmalloc", "array_new" } },
	{ 0x7f000010, JPROF_SOURCE_SYMTAB, NULL, 0, { "malloc" } },
};

/* Two threads; the stack of the first stands in the second, too. */
static const char text[] = "heap_v2/1\n"
			   "  t*: 8: 1500 [0: 0]\n  t1: 3: 500 [0: 0] old\n  t2: 5: 1000 [0: 0]\n"
			   "@ 0x7f000010 0x401001 0x402001 0x403001\n"
			   "  t*: 3: 600 [0: 0]\n  t1: 1: 200 [0: 0]\n  t2: 2: 400 [0: 0]\n"
			   "@ 0x7f000010 0x404001 0x402001 0x402001\n  t*: 2: 300 [0: 0]\n  t1: 2: 300 [0: 0]\n"
			   "@ 0x7f000010 0x403001\n  t*: 3: 600 [0: 0]\n  t2: 3: 600 [0: 0]\n" MAPS;

static struct jprof_profile *raw_profile(const char *thread)
{
	const struct jprof_profile_opts opts = { .size = sizeof opts, .thread = thread };
	struct jprof_profile *p;
	assert_int_equal(jprof_profile_parse(text, strlen(text), "test.heap", &opts, &p, NULL), 0);
	p->objects[p->allocator_hint].allocator = true;
	return p;
}

static struct jprof_profile *named_profile(const char *thread)
{
	struct jprof_profile *p = raw_profile(thread);
	name_locations(p, names, jp_count(names));
	return p;
}

/* All that the library can make of a view. */
static struct jp_strbuf everything(const struct jprof_view *view)
{
	const struct jprof_report_opts opts = { .size = sizeof opts, .pattern = ".", .show_bytes = true };
	const struct jprof_format *format;
	struct jp_strbuf out = { 0 };
	for (size_t i = 0; (format = jprof_format_at(i)); i++) {
		struct jprof_error err = { 0 };
		int rc = jprof_render(view, format->name, &opts, append_to_strbuf, &out, &err);
		assert_true(!rc || *err.text);
	}
	assert_false(out.failed);
	return out;
}

static void assert_equal_text(const struct jp_strbuf *a, const struct jp_strbuf *b)
{
	assert_int_equal(a->len, b->len);
	assert_memory_equal(a->text, b->text, a->len);
}

/* Two views of one profile, rendered in either order, and one made after the other was gone: equal bytes. */
TEST(test_views_leave_each_other_alone)
{
	const struct asked first = { .view.counter = JPROF_INUSE_SPACE, .view.errors = true };
	const struct asked second = { .view.counter = JPROF_INUSE_OBJECTS,
		                      .view.granularity = JPROF_BY_LIBRARY,
		                      .view.fold = JPROF_FOLD_RAW,
		                      .view.focus = "row",
		                      .view.errors = true };
	struct jprof_profile *p = named_profile(NULL);
	struct jprof_view *a = view_of(p, &first), *b = view_of(p, &second);
	struct jp_strbuf a1 = everything(a), b1 = everything(b), b2 = everything(b), a2 = everything(a);
	jprof_view_free(b);
	struct jprof_view *again = view_of(p, &second);
	struct jp_strbuf b3 = everything(again), a3 = everything(a);
	assert_true(a1.len > 1000 && b1.len > 1000 && a1.len != b1.len);
	assert_equal_text(&a1, &a2);
	assert_equal_text(&a1, &a3);
	assert_equal_text(&b1, &b2);
	assert_equal_text(&b1, &b3);
	struct jp_strbuf *all[] = { &a1, &a2, &a3, &b1, &b2, &b3 };
	for (size_t i = 0; i < jp_count(all); i++)
		jp_strbuf_release(all[i]);
	jprof_view_free(a);
	jprof_view_free(again);
	jprof_profile_free(p);
}

/* ---- the order --------------------------------------------------------------------------------------- */

static void assert_refused(int rc, const struct jprof_error *err, const char *part)
{
	assert_int_equal(rc, JPROF_E_ARGUMENT);
	assert_int_equal(err->code, JPROF_E_ARGUMENT);
	assert_is_message(err->text);
	assert_contains(err->text, part);
}

TEST(test_no_view_before_names)
{
	struct jprof_profile *p = raw_profile(NULL);
	struct jprof_view *view = (void *)p;
	struct jprof_error err = { 0 };
	assert_refused(jprof_view_new(p, NULL, &view, &err), &err, "jprof_profile_symbolize");
	assert_ptr_equal(view, p);
	const struct jprof_symbolize_opts none = { .size = sizeof none, .no_lookup = true };
	assert_int_equal(jprof_profile_symbolize(p, &none, NULL), 0);
	assert_int_equal(jprof_view_new(p, NULL, &view, NULL), 0);
	jprof_view_free(view);
	jprof_profile_free(p);
}

/* Merged after both were symbolized, a row had flat 9666 above cum 4765 once. */
TEST(test_no_sum_after_names)
{
	struct jprof_profile *raw = raw_profile(NULL), *named = named_profile(NULL);
	double before = jprof_profile_total(raw, JPROF_INUSE_SPACE);
	struct jprof_error err = { 0 };
	assert_refused(jprof_profile_add(named, raw, &err), &err, "before jprof_profile_symbolize");
	assert_refused(jprof_profile_add(raw, named, &err), &err, "before jprof_profile_symbolize");
	assert_refused(jprof_profile_difference(named, raw, &err), &err, "before jprof_profile_symbolize");
	assert_refused(jprof_profile_sidecar(named, "{}", 2, &err), &err, "before jprof_profile_symbolize");
	assert_near(jprof_profile_total(raw, JPROF_INUSE_SPACE), before);
	assert_near(jprof_profile_total(named, JPROF_INUSE_SPACE), before);
	jprof_profile_free(raw);
	jprof_profile_free(named);
}

/* Finding names again changes nothing, with other options neither. */
TEST(test_names_are_found_once)
{
	const struct jprof_symbolize_opts none = { .size = sizeof none, .no_lookup = true };
	struct jprof_profile *p = named_profile(NULL);
	size_t frames = p->frame_count, notes = jprof_profile_notes(p);
	char *before = text_of(p, NULL);
	assert_int_equal(jprof_profile_symbolize(p, &none, NULL), 0);
	assert_int_equal(jprof_profile_symbolize(p, NULL, NULL), 0);
	char *after = text_of(p, NULL);
	assert_string_equal(after, before);
	assert_int_equal(p->frame_count, frames);
	assert_int_equal(jprof_profile_notes(p), notes);
	free(before);
	free(after);
	jprof_profile_free(p);
}

TEST(test_unknown_words)
{
	static const struct {
		struct asked asked;
		const char *part;
	} cases[] = {
		{ { .view.counter = 99 }, "counter 99" }, { { .view.granularity = 99 }, "granularity 99" },
		{ { .view.fold = 99 }, "fold 99" },       { { .view.thread = "no such" }, "thread no such" },
		{ { .view.focus = "(" }, "focus" },       { { .view.also_ignore = "[" }, "ignore" },
	};
	struct jprof_profile *p = named_profile(NULL);
	struct jprof_view *view = (void *)p;
	struct jprof_error err = { 0 };
	for (size_t i = 0; i < jp_count(cases); i++) {
		struct jprof_view_opts opts = cases[i].asked.view;
		assert_refused(jprof_view_new(p, &opts, &view, &err), &err, ".size");
		opts.size = sizeof opts;
		assert_refused(jprof_view_new(p, &opts, &view, &err), &err, cases[i].part);
		assert_ptr_equal(view, p);
	}
	view = view_of(p, NULL);
	assert_refused(jprof_render(view, "no such", NULL, append_to_strbuf, NULL, &err), &err, "no such");
	assert_refused(jprof_render(view, "csv", NULL, append_to_strbuf, NULL, &err), &err, ".errors = true");
	const struct jprof_report_opts no_size = { .top = 1 };
	assert_refused(jprof_render(view, "text", &no_size, append_to_strbuf, NULL, &err), &err, ".size");
	jprof_view_free(view);
	jprof_profile_free(p);
}

/* ---- what is in it ------------------------------------------------------------------------------------- */

/* Recursion counts once; a frame that was folded in part keeps the rest. */
TEST(test_rows)
{
	static const struct {
		const char *name;
		double flat, cum;
	} should[] = {
		{ "row_new", 600, 600 }, { "main", 600, 1200 }, { "array_new", 300, 300 }, { "rows_keep", 0, 900 }
	};
	struct jprof_profile *p = named_profile(NULL);
	struct jprof_view *view = view_of(p, &(const struct asked){ .view.counter = JPROF_INUSE_SPACE });
	struct jprof_table *table = ordered(view, NULL);
	assert_int_equal(jprof_table_count(table), jp_count(should));
	for (size_t i = 0; i < jp_count(should); i++) {
		const struct jprof_row *row = NULL;
		for (size_t k = 0; k < jprof_table_count(table); k++)
			if (!strcmp(jprof_table_at(table, k)->name, should[i].name))
				row = jprof_table_at(table, k);
		assert_non_null(row);
		assert_near(row->flat, should[i].flat);
		assert_near(row->cum, should[i].cum);
	}
	assert_near(jprof_view_info(view)->total, 1500);
	assert_int_equal(jprof_view_info(view)->rows, 4);
	jprof_table_free(table);
	jprof_view_free(view);
	jprof_profile_free(p);
}

/* Each granularity has its words in every format, and on a terminal. */
TEST(test_each_granularity)
{
	static const struct jprof_report_opts screen = { .size = sizeof screen, .top = 1, .columns = 80 };
	struct jprof_profile *p = named_profile(NULL);
	struct jprof_error err;
	for (int g = JPROF_BY_FUNCTION; g <= JPROF_BY_GROUP; g++) {
		struct jprof_view *view =
		    view_of(p, &(const struct asked){ .view = { .errors = true, .granularity = g } });
		struct jp_strbuf all = everything(view), seen = { 0 };
		assert_int_equal(jprof_render(view, "text", &screen, append_to_strbuf, &seen, &err), 0);
		assert_null(strstr(seen.text, "(null)"));
		jp_strbuf_release(&seen);
		jp_strbuf_release(&all);
		jprof_view_free(view);
	}
	jprof_profile_free(p);
}

/* Of a row by line that does not fit the file's name and the line stay, of whatever length they are. */
TEST(test_line_on_a_terminal)
{
	static const struct known names[] = { { 0x401000,
		                                JPROF_SOURCE_DWARF,
		                                "/srv/shop/include/shop/storage/session_repository_factory.h",
		                                1237,
		                                { "shop::storage::session_repository::make" } } };
	static const struct jprof_report_opts screen = { .size = sizeof screen, .columns = 80 };
	struct jprof_profile *p = raw_profile(NULL);
	struct jprof_error err;
	struct jp_strbuf seen = { 0 };
	name_locations(p, names, 1);
	struct jprof_view *view = view_of(p, &(const struct asked){ .view.granularity = JPROF_BY_LINE });
	assert_int_equal(jprof_render(view, "text", &screen, append_to_strbuf, &seen, &err), 0);
	assert_non_null(strstr(seen.text, ".../session_repository_factory.h:1237\n"));
	jp_strbuf_release(&seen);
	jprof_view_free(view);
	jprof_profile_free(p);
}

/* Both filters of a kind hold. What they drop stays in the total. */
TEST(test_filters_add_up)
{
	struct jprof_profile *p = named_profile(NULL);
	const struct asked asked = { .view.counter = JPROF_INUSE_SPACE,
		                     .view.focus = "rows_keep",
		                     .view.also_focus = "main" };
	struct jprof_view *view = view_of(p, &asked);
	assert_near(jprof_view_info(view)->flat, 600);
	assert_near(jprof_view_info(view)->total, 1500);
	jprof_view_free(view);
	jprof_profile_free(p);
}

/* The parts have what the threads hold, with rows of their own, and headings as the program shows them. */
TEST(test_threads)
{
	static const double totals[] = { 500, 1000 };
	static const size_t rows[] = { 4, 3 };
	static const char *const headings[] = { "t1", "t2" };
	struct jprof_profile *p = named_profile("*");
	const struct asked bytes = { .view.counter = JPROF_INUSE_SPACE, .view.errors = true };
	struct jprof_view *view = view_of(p, &bytes);
	assert_int_equal(jprof_view_threads(view), 2);
	for (size_t i = 0; i < 2; i++) {
		struct asked one = bytes;
		struct jprof_view *part;
		assert_int_equal(jprof_view_thread(view, i, &part, NULL), 0);
		one.view.thread = jprof_profile_thread(p, i);
		struct jprof_view *alone = view_of(p, &one);
		assert_near(jprof_view_info(part)->total, totals[i]);
		assert_int_equal(jprof_view_info(part)->rows, rows[i]);
		assert_string_equal(jprof_view_info(part)->heading, headings[i]);
		struct jp_strbuf a = everything(part), b = everything(alone);
		assert_equal_text(&a, &b);
		jp_strbuf_release(&a);
		jp_strbuf_release(&b);
		jprof_view_free(alone);
		jprof_view_free(part);
	}
	jprof_view_free(view);
	jprof_profile_free(p);
}

/* What the rules say of a group is said of it in each thread, too. */
TEST(test_groups_of_threads)
{
	static const char rules[] = "[rows] own code\nfn row_new\nwhat rows of tables\n";
	const struct asked groups = {
		.view = { .granularity = JPROF_BY_GROUP, .rules = rules, .rules_len = sizeof rules - 1 }
	};
	struct jprof_profile *p = named_profile("*");
	struct jprof_view *view = view_of(p, &groups), *part;
	assert_int_equal(jprof_view_thread(view, 0, &part, NULL), 0);
	struct jprof_table *table = ordered(part, NULL);
	size_t found = 0;
	for (size_t i = 0; i < jprof_table_count(table); i++)
		found += jprof_table_at(table, i)->what && !strcmp(jprof_table_at(table, i)->what, "rows of tables");
	assert_int_equal(found, 1);
	jprof_table_free(table);
	jprof_view_free(part);
	jprof_view_free(view);
	jprof_profile_free(p);
}

/* Writers get a long report in pieces. */
static int count_pieces(void *context, const void *data, size_t len)
{
	(void)data;
	(void)len;
	++*(size_t *)context;
	return 0;
}

TEST(test_reports_are_streamed)
{
	const struct jprof_report_opts opts = { .size = sizeof opts, .least_share = -1 };
	struct jp_strbuf dump = { 0 };
	size_t pieces = 0;
	jp_strbuf_str(&dump, "heap_v2/1\n");
	for (unsigned i = 0; i < 20000; i++)
		jp_strbuf_printf(&dump, "@ 0x%x 0x403001\n  t*: 1: 100 [0: 0]\n", 0x410000 + 16 * i);
	struct jprof_profile *p = profile_of(dump.text);
	name_locations(p, NULL, 0);
	struct jprof_view *view = view_of(p, &(const struct asked){ .view.errors = true });
	const struct jprof_format *format;
	for (size_t i = 0; (format = jprof_format_at(i)); i++) {
		/* A histogram has as many lines as there are sizes; a picture has no box for what cannot be seen. */
		if (format->argument || !strcmp(format->name, "sizes") || !strcmp(format->name, "flame"))
			continue;
		pieces = 0;
		assert_int_equal(jprof_render(view, format->name, &opts, count_pieces, &pieces, NULL), 0);
		if (pieces < 2)
			fail_msg("%s comes in one piece", format->name);
	}
	jprof_view_free(view);
	jprof_profile_free(p);
	jp_strbuf_release(&dump);
}
