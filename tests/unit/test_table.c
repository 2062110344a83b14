/* Flat and cumulative values by function, line, file and address. */
#include "harness.h"
#include "model/profile.h"

#define MAPS "\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 42   /opt/app/server\n"

struct expected {
	const char *name;
	double flat, cum;
};

static const struct known names[] = {
	{ 0x401000, JPROF_SOURCE_DWARF, "row.c", 10, { "row_new(int)" } },
	{ 0x401008, JPROF_SOURCE_DWARF, "row.c", 12, { "row_new(int)" } },
	{ 0x402000, JPROF_SOURCE_DWARF, "rows.c", 20, { "rows_keep" } },
	{ 0x403000, JPROF_SOURCE_DWARF, "main.c", 30, { "main" } },
	{ 0x404000, JPROF_SOURCE_DWARF, "row.c", 40, { "list_add", "grow", "parse" } },
	{ 0x405000, JPROF_SOURCE_SYMTAB, NULL, 0, { "from_symtab" } },
	{ 0x406000, JPROF_SOURCE_FDE, NULL, 0, { "server!0x6000" } },
};

/* row_new 9000 by two stacks, one of them recursive; parse 1000, inlined three deep. */
static const char rows[] = "heap_v2/1\n"
			   "@ 0x401000 0x402001 0x403001\n  t*: 10: 3000 [1: 7777]\n"
			   "@ 0x404000 0x403001\n  t*: 5: 1000 [0: 0]\n"
			   "@ 0x401008 0x402001 0x402001 0x403001\n  t*: 2: 6000 [0: 0]\n" MAPS;

static struct jprof_profile *named(const char *text)
{
	struct jprof_profile *p = profile_of(text);
	name_locations(p, names, jp_count(names));
	return p;
}

static void check_rows(const struct jprof_table *table, const struct expected *should, size_t count)
{
	for (size_t i = 0; i < count && i < jprof_table_count(table); i++) {
		const struct jprof_row *row = jprof_table_at(table, i);
		assert_string_equal(row->name, should[i].name);
		assert_near(row->flat, should[i].flat);
		assert_near(row->cum, should[i].cum);
	}
	assert_int_equal(jprof_table_count(table), count);
}

static void check(const char *text, const struct asked *asked, const struct expected *should, size_t count)
{
	struct jprof_profile *p = named(text);
	struct jprof_view *view = view_of(p, asked);
	struct jprof_table *table = ordered(view, asked);
	check_rows(table, should, count);
	jprof_table_free(table);
	jprof_view_free(view);
	jprof_profile_free(p);
}

#define CHECK(text, should, ...) check(text, &(const struct asked){ __VA_ARGS__ }, should, jp_count(should))

TEST(test_by_function)
{
	static const struct expected by_flat[] = {
		{ "row_new", 9000, 9000 },    { "list_add (inline)", 1000, 1000 },
		{ "grow (inline)", 0, 1000 }, { "main", 0, 10000 },
		{ "parse", 0, 1000 },         { "rows_keep", 0, 9000 },
	};
	static const struct expected by_cum[] = {
		{ "main", 0, 10000 },         { "row_new", 9000, 9000 },           { "rows_keep", 0, 9000 },
		{ "grow (inline)", 0, 1000 }, { "list_add (inline)", 1000, 1000 }, { "parse", 0, 1000 },
	};
	static const struct expected full[] = { { "row_new(int)", 9000, 9000 } };
	CHECK(rows, by_flat, .view.counter = JPROF_INUSE_SPACE);
	CHECK(rows, by_cum, .view.counter = JPROF_INUSE_SPACE, .report.cum = true);
	CHECK(rows, full, .view.counter = JPROF_INUSE_SPACE, .view.full_names = true, .report.top = 1);
}

TEST(test_by_line)
{
	static const struct expected should[] = {
		{ "row_new row.c:12", 6000, 6000 },
		{ "row_new row.c:10", 3000, 3000 },
		{ "list_add (inline) row.c:40", 1000, 1000 },
		{ "grow (inline) row.c:40", 0, 1000 },
		{ "main main.c:30", 0, 10000 },
		{ "parse row.c:40", 0, 1000 },
		{ "rows_keep rows.c:20", 0, 9000 },
	};
	CHECK(rows, should, .view.counter = JPROF_INUSE_SPACE, .view.granularity = JPROF_BY_LINE);
}

/* A stack that passes through a file several times counts once. */
TEST(test_by_file)
{
	static const struct expected should[] = { { "row.c", 10000, 10000 },
		                                  { "main.c", 0, 10000 },
		                                  { "rows.c", 0, 9000 } };
	CHECK(rows, should, .view.counter = JPROF_INUSE_SPACE, .view.granularity = JPROF_BY_FILE);
}

TEST(test_by_address)
{
	static const struct expected should[] = {
		{ "0000000000401008 row_new row.c:12", 6000, 6000 },
		{ "0000000000401000 row_new row.c:10", 3000, 3000 },
		{ "0000000000404000 list_add (inline) row.c:40", 1000, 1000 },
		{ "0000000000402000 rows_keep rows.c:20", 0, 9000 },
		{ "0000000000403000 main main.c:30", 0, 10000 },
		{ "0000000000404000 grow (inline) row.c:40", 0, 1000 },
		{ "0000000000404000 parse row.c:40", 0, 1000 },
	};
	CHECK(rows, should, .view.counter = JPROF_INUSE_SPACE, .view.granularity = JPROF_BY_ADDRESS);
}

/* A symbol without lines is "name ??:0"; what has no name at all has no line either. */
TEST(test_without_lines)
{
	static const char text[] = "heap_v2/1\n@ 0x405000 0x406001\n  t*: 1: 100 [0: 0]\n" MAPS;
	static const struct expected should[] = { { "from_symtab ??:0", 100, 100 }, { "server!0x6000", 0, 100 } };
	CHECK(text, should, .view.counter = JPROF_INUSE_SPACE, .view.granularity = JPROF_BY_LINE);
}

TEST(test_each_counter)
{
	static const double top[JPROF_COUNTERS] = { 9000, 12, 7777, 1 };
	struct jprof_profile *p = named(rows);
	for (int c = 0; c < JPROF_COUNTERS; c++) {
		struct jprof_view *view = view_of(p, &(const struct asked){ .view.counter = (enum jprof_counter)c });
		struct jprof_table *table = ordered(view, NULL);
		assert_string_equal(jprof_table_at(table, 0)->name, "row_new");
		assert_near(jprof_table_at(table, 0)->flat, top[c]);
		assert_near(jprof_view_info(view)->flat, jprof_profile_total(p, (enum jprof_counter)c));
		jprof_table_free(table);
		jprof_view_free(view);
	}
	jprof_profile_free(p);
}

TEST(test_recursion_counts_once)
{
	static const char text[] = "heap_v2/1\n"
				   "@ 0x402000 0x402001 0x402001 0x403001 0x402001\n  t*: 1: 100 [0: 0]\n"
				   "@ 0x402000 0x403001\n  t*: 1: 1000 [0: 0]\n" MAPS;
	static const struct expected should[] = { { "rows_keep", 1100, 1100 }, { "main", 0, 1100 } };
	CHECK(text, should, .view.counter = JPROF_INUSE_SPACE);
}

TEST(test_rows_of_zeros_are_left_out)
{
	static const char text[] = "heap_v2/1\n"
				   "@ 0x402000 0x403001\n  t*: 0: 0 [1: 100]\n"
				   "@ 0x405000\n  t*: 1: 100 [0: 0]\n" MAPS;
	static const struct expected should[] = { { "from_symtab", 100, 100 } };
	CHECK(text, should, .view.counter = JPROF_INUSE_SPACE);
}

/* Equal values: by name, byte by byte, whatever the order of the dump. */
TEST(test_ties_by_name)
{
	static const char text[] = "heap_v2/1\n"
				   "@ 0x402000\n  t*: 1: 100 [0: 0]\n"
				   "@ 0x405000\n  t*: 1: 100 [0: 0]\n"
				   "@ 0x403000\n  t*: 1: 100 [0: 0]\n"
				   "@ 0x9\n  t*: 1: 100 [0: 0]\n" MAPS;
	static const struct expected should[] = {
		{ "0x9", 100, 100 }, { "from_symtab", 100, 100 }, { "main", 100, 100 }, { "rows_keep", 100, 100 }
	};
	CHECK(text, should, .view.counter = JPROF_INUSE_SPACE);
	CHECK(text, should, .view.counter = JPROF_INUSE_SPACE, .report.cum = true);
}

TEST(test_top_cuts_rows_and_not_the_sum)
{
	struct jprof_profile *p = named(rows);
	for (size_t top = 1; top < 9; top++) {
		const struct asked asked = { .view.counter = JPROF_INUSE_SPACE, .report.top = top };
		struct jprof_view *view = view_of(p, &asked);
		struct jprof_table *table = ordered(view, &asked);
		assert_int_equal(jprof_table_count(table), top < 6 ? top : 6);
		assert_near(jprof_view_info(view)->flat, 10000);
		jprof_table_free(table);
		jprof_view_free(view);
	}
	jprof_profile_free(p);
}

TEST(test_a_request_from_the_future)
{
	struct {
		struct jprof_view_opts known;
		long more;
	} opts = { .known = { .size = sizeof opts }, .more = 1 };
	struct jprof_view *view = (void *)&opts;
	struct jprof_profile *p = named(rows);
	assert_int_equal(jprof_view_new(p, &opts.known, &view, NULL), JPROF_E_ARGUMENT);
	assert_ptr_equal(view, &opts);
	jprof_profile_free(p);
	jprof_view_free(NULL);
	jprof_table_free(NULL);
}

struct place {
	const char *name, *object, *file;
	unsigned line;
	enum jprof_source source;
};

static void check_place(const struct jprof_row *row, const struct place *should)
{
	assert_string_equal(row->name, should->name);
	assert_string_equal(row->object ? row->object : "", should->object ? should->object : "");
	assert_string_equal(row->file ? row->file : "", should->file ? should->file : "");
	assert_int_equal(row->line, should->line);
	assert_int_equal(row->source, should->source);
}

/* Where all frames of a row are of one place, the row has it. */
TEST(test_rows_have_a_place)
{
	static const struct place by[][2] = {
		[JPROF_BY_FUNCTION] = { { "row_new", "/opt/app/server", "row.c", 0, JPROF_SOURCE_DWARF },
		                        { "list_add (inline)", "/opt/app/server", "row.c", 40, JPROF_SOURCE_DWARF } },
		[JPROF_BY_LINE] = { { "row_new row.c:12", "/opt/app/server", "row.c", 12, JPROF_SOURCE_DWARF },
		                    { "row_new row.c:10", "/opt/app/server", "row.c", 10, JPROF_SOURCE_DWARF } },
		[JPROF_BY_FILE] = { { "row.c", "/opt/app/server", "row.c", 0, JPROF_SOURCE_DWARF },
		                    { "main.c", "/opt/app/server", "main.c", 30, JPROF_SOURCE_DWARF } },
	};
	struct jprof_profile *p = named(rows);
	for (size_t i = 0; i < jp_count(by); i++) {
		const struct asked asked = { .view.counter = JPROF_INUSE_SPACE,
			                     .view.granularity = (enum jprof_granularity)i };
		struct jprof_view *view = view_of(p, &asked);
		struct jprof_table *table = ordered(view, NULL);
		for (size_t r = 0; r < 2; r++)
			check_place(jprof_table_at(table, r), &by[i][r]);
		jprof_table_free(table);
		jprof_view_free(view);
	}
	jprof_profile_free(p);
}
