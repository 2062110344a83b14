/* Call graphs: which nodes and edges there are, and what they are worth. */
#include "base/strbuf.h"
#include "harness.h"
#include "model/profile.h"

#define MAPS                                                                                                           \
	"\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 42   /opt/app/server\n"                            \
	"00600000-00700000 r-xp 00000000 08:01 43   /usr/lib/libxml2.so.2.9\n"                                         \
	"00800000-00900000 r-xp 00000000 08:01 44   /usr/lib/libc.so.6\n"
#define OF(bytes) "\n  t*: 1: " #bytes " [0: 0]\n"

static const struct known names[] = {
	{ 0x401000, JPROF_SOURCE_DWARF, "a.c", 10, { "a(int)" } },
	{ 0x401008, JPROF_SOURCE_DWARF, "a.c", 14, { "a(int)" } },
	{ 0x402000, JPROF_SOURCE_DWARF, "b.c", 20, { "b" } },
	{ 0x403000, JPROF_SOURCE_DWARF, "c.c", 30, { "c" } },
	{ 0x404000, JPROF_SOURCE_DWARF, "d.c", 40, { "small", "d" } },
	{ 0x405000, JPROF_SOURCE_DWARF, "main.c", 50, { "main" } },
	{ 0x601000, JPROF_SOURCE_SYMTAB, NULL, 0, { "xmlNew" } },
	{ 0x801000, JPROF_SOURCE_SYMTAB, NULL, 0, { "strdup" } },
};

static struct jprof_profile *named(const char *text)
{
	struct jprof_profile *p = profile_of(text);
	name_locations(p, names, jp_count(names));
	return p;
}

/* "NAME FLAT/CUM\n" for each node, then "FROM>TO VALUE\n" for each edge, with what else there is about it. */
static char *shown(const struct jprof_graph *g)
{
	struct jp_strbuf out = { 0 };
	for (size_t i = 0; i < jprof_graph_nodes(g); i++) {
		const struct jprof_node *n = jprof_graph_node(g, i);
		jp_strbuf_printf(&out, "%s %.0f/%.0f\n", n->name, n->flat, n->cum);
	}
	for (size_t i = 0; i < jprof_graph_edges(g); i++) {
		const struct jprof_edge *e = jprof_graph_edge(g, i);
		jp_strbuf_printf(&out, "%s>%s %.0f", jprof_graph_node(g, e->from)->name,
		                 jprof_graph_node(g, e->to)->name, e->value);
		if (e->bridged != 0)
			jp_strbuf_printf(&out, " bridged %.0f", e->bridged);
		jp_strbuf_printf(&out, "%s%s\n", e->residual ? " residual" : "", e->inlined ? " inlined" : "");
	}
	jp_strbuf_str(&out, "");
	return out.text;
}

static struct jprof_view *shown_view; /* of the only graph */

static struct jprof_graph *graph_of(const struct jprof_profile *p, enum jprof_granularity by,
                                    const struct jprof_graph_opts *opts)
{
	struct jprof_graph *g = NULL;
	shown_view = view_of(p, &(const struct asked){ .view.counter = JPROF_INUSE_SPACE, .view.granularity = by });
	assert_int_equal(jprof_graph_new(shown_view, opts, &g, NULL), 0);
	return g;
}

static void graph_free(struct jprof_graph *g)
{
	jprof_graph_free(g);
	jprof_view_free(shown_view);
}

static void check_by(enum jprof_granularity by, const char *text, const struct jprof_graph_opts *opts,
                     const char *should)
{
	struct jprof_profile *p = named(text);
	struct jprof_graph *g = graph_of(p, by, opts);
	char *is = shown(g);
	assert_string_equal(is, should);
	free(is);
	graph_free(g);
	jprof_profile_free(p);
}

#define CHECK(text, should, ...)                                                                                       \
	check_by(JPROF_BY_FUNCTION, text,                                                                              \
	         &(const struct jprof_graph_opts){ .size = sizeof(struct jprof_graph_opts), __VA_ARGS__ }, should)
#define MANY SIZE_MAX

static const char chain[] =
    "heap_v2/1\n"
    "@ 0x401000 0x402001 0x405001" OF(6000) "@ 0x401000 0x403001 0x405001" OF(3000) "@ 0x404000 0x405001" OF(1000) MAPS;

TEST(test_nodes_and_edges)
{
	CHECK(chain,
	      "main 0/10000\na 9000/9000\nb 0/6000\nc 0/3000\nd 0/1000\nsmall (inline) 1000/1000\n"
	      "main>b 6000\nb>a 6000\nmain>c 3000\nc>a 3000\nmain>d 1000\nd>small (inline) 1000 inlined\n",
	      .maxdegree = MANY);
	check_by(JPROF_BY_FUNCTION, chain, NULL,
	         "main 0/10000\na 9000/9000\nb 0/6000\nc 0/3000\nd 0/1000\nsmall (inline) 1000/1000\n"
	         "main>b 6000\nb>a 6000\nmain>c 3000\nc>a 3000\nmain>d 1000\nd>small (inline) 1000 inlined\n");
}

static const char deep[] = "heap_v2/1\n"
			   "@ 0x401000 0x402001 0x401009 0x402001 0x401001 0x405001" OF(
			       700) "@ 0x401000 0x401001 0x401001" OF(50) "@ 0x401000 0x405001" OF(7) MAPS;

/* main, a, b, a, b, a: each pair counts once. */
TEST(test_recursion_counts_once)
{
	CHECK(deep,
	      "a 757/757\nmain 0/707\nb 0/700\n"
	      "main>a 707\na>b 700\nb>a 700\na>a 50\n",
	      .whole = true);
}

/* Without b: main, a, a, a by way of a dropped node, which is no recursion to be drawn. */
TEST(test_recursion_through_a_dropped_node)
{
	CHECK(deep, "a 757/757\nmain 0/707\nmain>a 707\na>a 50\n", .nodecount = 2);
}

TEST(test_a_dropped_node_is_bridged)
{
	CHECK(chain, "main 0/10000\na 9000/9000\nmain>a 9000 bridged 9000 residual\n", .nodecount = 2);
	CHECK(chain,
	      "main 0/10000\na 9000/9000\nb 0/6000\n"
	      "main>b 6000\nb>a 6000\nmain>a 3000 bridged 3000 residual\n",
	      .nodecount = 3);
}

/* One stack both ways: its value is direct. */
TEST(test_direct_and_bridged)
{
	static const char both[] = "heap_v2/1\n"
				   "@ 0x401000 0x402001 0x403001 0x401001 0x402001" OF(
				       100) "@ 0x401000 0x403001 0x402001" OF(10) "@ 0x402000" OF(1000) MAPS;
	CHECK(both, "b 1000/1110\na 110/110\nb>a 110 bridged 10\na>b 100 bridged 100 residual\n", .nodecount = 2);
	/* From outside: b, a, c, b, a in the first; b, c, a in the second. */
	CHECK(both,
	      "b 1000/1110\na 110/110\nc 0/110\n"
	      "b>a 100\na>c 100\nc>b 100\nb>c 10\nc>a 10\n",
	      .whole = true);
}

TEST(test_limits)
{
	/* 10 % of 10000 is 1000: nodes of up to that go. */
	CHECK(chain,
	      "main 0/10000\na 9000/9000\nb 0/6000\nc 0/3000\n"
	      "main>b 6000\nb>a 6000\nmain>c 3000\nc>a 3000\n",
	      .nodefraction = 0.1);
	/* Edges of up to 3000 go, but for the first into each node. */
	CHECK(chain,
	      "main 0/10000\na 9000/9000\nb 0/6000\nc 0/3000\n"
	      "main>b 6000\nb>a 6000\nmain>c 3000\n",
	      .nodefraction = 0.1, .edgefraction = 0.3);
	CHECK(chain,
	      "main 0/10000\na 9000/9000\nb 0/6000\nc 0/3000\n"
	      "main>b 6000\nb>a 6000\nmain>c 3000\n",
	      .nodefraction = 0.1, .maxdegree = 1);
}

/* What calls itself most is still joined to the rest; so are two that call each other. */
TEST(test_no_node_floats)
{
	static const char loops[] = "heap_v2/1\n"
				    "@ 0x401000 0x401001 0x402001" OF(100) "@ 0x401000 0x401001" OF(
					900) "@ 0x402000 0x403001 0x402001 0x403001 0x405001" OF(10) MAPS;
	CHECK(loops,
	      "a 1000/1000\nb 10/110\nc 0/10\nmain 0/10\n"
	      "a>a 1000\nb>a 100\nb>c 10\nc>b 10\nmain>c 10\n",
	      .edgefraction = 0.5, .nodefraction = -1);
}

TEST(test_info)
{
	const struct jprof_graph_opts opts = { .size = sizeof opts, .nodecount = 3, .edgefraction = 0.4 };
	struct jprof_profile *p = named(chain);
	struct jprof_graph *g = graph_of(p, JPROF_BY_FUNCTION, &opts);
	const struct jprof_graph_info *info = jprof_graph_info(g);
	assert_near(info->total, 10000);
	assert_near(info->scale, 10000);
	assert_near(info->nodelimit, 50);
	assert_near(info->edgelimit, 4000);
	assert_int_equal(info->dropped_nodes, 3);
	assert_int_equal(info->dropped_edges, 1);
	assert_near(info->dropped_flat, 1000);
	assert_false(info->difference);
	graph_free(g);
	jprof_profile_free(p);
}

TEST(test_what_a_node_knows)
{
	static const char two[] = "heap_v2/1\n@ 0x401000 0x401009 0x601001" OF(100) "@ 0x404000" OF(10) MAPS;
	struct jprof_profile *p = named(two);
	struct jprof_graph *g = graph_of(p, JPROF_BY_FUNCTION, NULL);
	const struct jprof_node *a = jprof_graph_node(g, 0), *xml = jprof_graph_node(g, 1);
	assert_string_equal(a->name, "a");
	assert_string_equal(a->full, "a(int)");
	assert_string_equal(a->object, "/opt/app/server");
	assert_string_equal(a->owner, "server");
	assert_string_equal(a->file, "a.c");
	assert_int_equal(a->line, 10);
	assert_int_equal(a->last_line, 14);
	assert_string_equal(xml->owner, "libxml2");
	assert_null(xml->file);
	assert_int_equal(xml->line, 0);
	assert_true(jprof_graph_node(g, 3)->inlined);
	assert_string_equal(jprof_graph_node(g, 3)->name, "small (inline)");
	graph_free(g);
	jprof_profile_free(p);
}

TEST(test_a_difference)
{
	struct jprof_profile *p =
	    profile_of("heap_v2/1\n@ 0x401000 0x405001" OF(500) "@ 0x402000 0x405001" OF(100) MAPS);
	struct jprof_profile *base =
	    profile_of("heap_v2/1\n@ 0x401000 0x405001" OF(100) "@ 0x402000 0x405001" OF(900) MAPS);
	assert_int_equal(jprof_profile_difference(p, base, NULL), 0);
	name_locations(p, names, jp_count(names));
	struct jprof_graph *g = graph_of(p, JPROF_BY_FUNCTION, NULL);
	char *is = shown(g);
	assert_string_equal(is, "b -800/-800\na 400/400\nmain 0/-400\nmain>b -800\nmain>a 400\n");
	assert_true(jprof_graph_info(g)->difference);
	assert_near(jprof_graph_info(g)->total, -400);
	assert_near(jprof_graph_info(g)->scale, 1200);
	free(is);
	graph_free(g);
	jprof_profile_free(p);
	jprof_profile_free(base);
}

TEST(test_by_library)
{
	static const char text[] =
	    "heap_v2/1\n"
	    "@ 0x801000 0x601001 0x601001 0x401001 0x402001 0x405001" OF(100) "@ 0x401000 0x405001" OF(20) MAPS;
	check_by(JPROF_BY_LIBRARY, text, NULL, "server 20/120\nlibxml2 100/100\nserver>libxml2 100\n");
}

/* The same nodes and values as the table of the view, at every granularity. */
TEST(test_equals_the_table)
{
	const struct jprof_graph_opts whole = { .size = sizeof whole, .whole = true };
	struct jprof_profile *p = named(deep);
	for (int by = JPROF_BY_FUNCTION; by <= JPROF_BY_ADDRESS; by++) {
		struct jprof_graph *g = graph_of(p, (enum jprof_granularity)by, &whole);
		struct jprof_table *table = ordered(shown_view, &(const struct asked){ .report.cum = true });
		assert_int_equal(jprof_graph_nodes(g), jprof_table_count(table));
		for (size_t i = 0; i < jprof_table_count(table); i++) {
			const struct jprof_row *row = jprof_table_at(table, i);
			assert_string_equal(jprof_graph_node(g, i)->name, row->name);
			assert_near(jprof_graph_node(g, i)->flat, row->flat);
			assert_near(jprof_graph_node(g, i)->cum, row->cum);
		}
		jprof_table_free(table);
		graph_free(g);
	}
	jprof_profile_free(p);
}

TEST(test_errors)
{
	static const char text[] = "heap_v2/1000\n@ 0x401000 0x405001\n  t*: 100: 20000 [0: 0]\n" MAPS;
	struct jprof_profile *p = named(text);
	struct jprof_graph *g;
	struct jprof_range total;
	shown_view = view_of(p, &(const struct asked){ .view.counter = JPROF_INUSE_SPACE, .view.errors = true });
	assert_int_equal(jprof_graph_new(shown_view, NULL, &g, NULL), 0);
	jprof_profile_range(p, JPROF_INUSE_SPACE, &total);
	assert_true(total.error > 0);
	assert_near(jprof_graph_node(g, 0)->cum_range.error, total.error);
	assert_near(jprof_graph_edge(g, 0)->range.error, total.error);
	assert_near(jprof_graph_node(g, 0)->flat_range.samples, 100);
	graph_free(g);
	jprof_profile_free(p);
}

TEST(test_nothing)
{
	check_by(JPROF_BY_FUNCTION, "heap_v2/1\n@ 0x401000\n  t*: 0: 0 [1: 5]\n" MAPS, NULL, "");
}
