/* Tags: stacks are kept apart by them, and related by their texts, never by their numbers. Dumps and tables are written
 * here by docs/internals/ruby-table.md. Objects of 64 bytes, of which one in 16384 is sampled: a counter is the number
 * of samples. */
#include "base/checksum.h"
#include "harness.h"
#include "model/profile.h"

enum { most_parts = 6 };

/* A dump: samples of stacks (site 1, 2 ...) by the numbers of their tags, and what the table says of tags. */
struct tagged {
	const char *lines; /* of the table */
	struct {
		unsigned site, tag, n;
	} parts[most_parts];
};

static const struct known names[] = {
	{ 0x401100, JPROF_SOURCE_SYMTAB, NULL, 0, { "first", NULL } },
	{ 0x401200, JPROF_SOURCE_SYMTAB, NULL, 0, { "second", NULL } },
};

static struct jprof_profile *profile_of_tagged(const struct tagged *d)
{
	struct jprof_profile_opts opts = { .size = sizeof opts };
	struct jprof_profile *p = NULL;
	struct jprof_error err = { 0 };
	struct jp_checksum sum = jp_checksum_none();
	char *text = NULL, *table = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);
	fprintf(out, "heap_v2/1048576\n  t*: 1: 64 [0: 0]\n");
	for (size_t i = 0; d->parts[i].n; i++) {
		fprintf(out, "@ 0x%x", 0x401000 + 0x100 * d->parts[i].site);
		if (d->parts[i].tag)
			fprintf(out, " 0x%llx", 0x7f0000000000ULL + 2 * (0x40000 + d->parts[i].tag) + 1);
		fprintf(out, "\n  t*: %u: %u [0: 0]\n", d->parts[i].n, 64 * d->parts[i].n);
	}
	fprintf(out, "\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 7 /bin/subject\n"
	             "7f0000000000-7f0000480800 ---s 00000000 00:01 2050 /memfd:jprof-ids:1 (deleted)\n");
	fclose(out);
	jp_checksum_add(&sum, text, len);
	out = open_memstream(&table, &opts.table_len);
	fprintf(out, "jprof-table 1\ndump %zu %llx\nids 7f0000000000 0 40000 40400 240400\nruby 3.3.8 on\n%send 0\n",
	        len, (unsigned long long)sum.fnv, d->lines ? d->lines : "");
	fclose(out);
	opts.table = d->lines ? table : NULL;
	if (jprof_profile_parse(text, len, "test.heap", &opts, &p, &err))
		fail_msg("%s", err.text);
	free(text);
	free(table);
	return p;
}

static void name_once(struct jprof_profile *p)
{
	if (!p->named)
		name_locations(p, names, jp_count(names));
}

static const struct asked by_tag = { .view = { .granularity = JPROF_BY_TAG } };

/* The samples behind each row, "ROW N, ROW N": by the number of objects and what one in 16384 means. */
static void check_rows(struct jprof_profile *p, const struct asked *asked, const char *wanted)
{
	char rows[512] = "";
	name_once(p);
	struct jprof_view *view = view_of(p, asked);
	struct jprof_table *table = ordered(view, asked);
	for (size_t i = 0; i < jprof_table_count(table); i++) {
		const struct jprof_row *row = jprof_table_at(table, i);
		size_t used = strlen(rows);
		snprintf(rows + used, sizeof rows - used, "%s%s %.0f", i ? ", " : "", row->name,
		         row->flat / 64 * -expm1(-64.0 / 1048576));
	}
	assert_string_equal(rows, wanted);
	jprof_table_free(table);
	jprof_view_free(view);
}

static const struct tagged mixed = { "t 1 route GET /a\nt 2 job GET /a\nt 3 - GET /a\n",
	                             { { 1, 1, 50 }, { 1, 2, 40 }, { 1, 3, 30 }, { 2, 1, 5 }, { 1, 0, 20 } } };

TEST(test_rows)
{
	struct asked functions = { 0 }, some = by_tag, none = by_tag, lines = { .view = { .tag = "^GET /a$" } };
	struct jprof_profile *p = profile_of_tagged(&mixed);
	check_rows(p, &by_tag, "route GET /a 55, job GET /a 40, GET /a 30, (no tag) 20");
	check_rows(p, &functions, "first 140, second 5");
	some.view.tag = "/a";
	check_rows(p, &some, "route GET /a 55, job GET /a 40, GET /a 30");
	none.view.tag = "^$";
	check_rows(p, &none, "(no tag) 20");
	check_rows(p, &lines, "first 120, second 5");
	jprof_profile_free(p);
}

/* Numbers mean nothing between two processes. */
TEST(test_two_dumps)
{
	const struct tagged early = { "t 1 - b\nt 2 - a\n", { { 1, 1, 50 }, { 1, 2, 60 } } },
			    late = { "t 1 - a\nt 2 - c\nt 9 - b\n", { { 1, 1, 61 }, { 1, 2, 9 }, { 1, 9, 50 } } };
	struct jprof_profile *p = profile_of_tagged(&late), *base = profile_of_tagged(&early);
	assert_int_equal(jprof_profile_difference(p, base, NULL), 0);
	check_rows(p, &by_tag, "c 9, a 1");
	jprof_profile_free(p);
	p = profile_of_tagged(&late);
	assert_int_equal(jprof_profile_add(p, base, NULL), 0);
	check_rows(p, &by_tag, "a 121, b 100, c 9");
	jprof_profile_free(p);
	jprof_profile_free(base);
}

/* A number whose text the table has not is a tag; without a table it is none. */
TEST(test_unknown)
{
	struct tagged d = { "t 1 - a\n", { { 1, 1, 50 }, { 1, 2, 40 }, { 1, 3, 30 }, { 1, 1023, 9 } } };
	struct jprof_profile *p = profile_of_tagged(&d);
	check_rows(p, &by_tag, "(text not known) 79, a 50");
	jprof_profile_free(p);
	d.lines = NULL;
	p = profile_of_tagged(&d);
	struct asked functions = { 0 };
	check_rows(p, &functions, "first 129");
	struct jprof_view *view = NULL;
	struct jprof_error err = { 0 };
	struct jprof_view_opts opts = { .size = sizeof opts, .granularity = JPROF_BY_TAG };
	assert_int_equal(jprof_view_new(p, &opts, &view, &err), JPROF_E_ARGUMENT);
	assert_is_message(err.text);
	opts = (struct jprof_view_opts){ .size = sizeof opts, .tag = "a" };
	assert_int_equal(jprof_view_new(p, &opts, &view, &err), JPROF_E_ARGUMENT);
	jprof_profile_free(p);
	p = profile_of_tagged(&mixed);
	name_once(p);
	opts.tag = "(";
	assert_int_equal(jprof_view_new(p, &opts, &view, &err), JPROF_E_ARGUMENT);
	assert_contains(err.text, "tag");
	jprof_profile_free(p);
}

static int keep_bytes(void *context, const void *data, size_t len)
{
	return fwrite(data, 1, len, context) == len ? 0 : -1;
}

static char *report_of(struct jprof_profile *p, const char *format, size_t *len)
{
	const struct asked asked = { .view = { .errors = true } };
	char *text = NULL;
	struct jprof_error err = { 0 };
	FILE *out = open_memstream(&text, len);
	name_once(p);
	struct jprof_view *view = view_of(p, &asked);
	struct jprof_report_opts opts = { .size = sizeof opts };
	if (jprof_render(view, format, &opts, keep_bytes, out, &err))
		fail_msg("%s: %s", format, err.text);
	fclose(out);
	jprof_view_free(view);
	return text;
}

/* Through profile.proto and back; the root of collapsed stacks; the list in JSON. */
TEST(test_formats)
{
	struct jprof_profile *p = profile_of_tagged(&mixed), *back = NULL;
	struct jprof_error err = { 0 };
	size_t len;
	char *proto = report_of(p, "proto", &len);
	if (jprof_profile_parse(proto, len, "x.pb.gz", NULL, &back, &err))
		fail_msg("%s", err.text);
	free(proto);
	const struct jprof_symbolize_opts with_its_names = { .size = sizeof with_its_names, .no_lookup = true };
	assert_int_equal(jprof_profile_symbolize(back, &with_its_names, NULL), 0);
	check_rows(back, &by_tag, "route GET /a 55, job GET /a 40, GET /a 30, (no tag) 20");
	jprof_profile_free(back);
	char *lines = report_of(p, "collapsed", &len);
	static const char *const roots[] = { "(no tag);first ", "GET /a;first ", "job GET /a;first ",
		                             "route GET /a;first ", "route GET /a;second " };
	for (size_t i = 0; i < jp_count(roots); i++)
		assert_contains(lines, roots[i]);
	free(lines);
	char *json = report_of(p, "json", &len);
	assert_contains(json, "\"tags\"");
	assert_contains(json, "{\"kind\":\"route\",\"text\":\"GET /a\"");
	assert_contains(json, "{\"kind\":null,\"text\":null");
	free(json);
	jprof_profile_free(p);
}

static void check_contains(struct jprof_profile *p, const char *format, const char *const *parts, size_t count)
{
	size_t len;
	char *text = report_of(p, format, &len);
	for (size_t i = 0; i < count; i++)
		assert_contains(text, parts[i]);
	free(text);
}

/* The outermost frame of formats that know nothing but frames; in traces a line of its own. */
TEST(test_roots)
{
	static const char *const traces[] = { " tag   route GET /a\n    50.0  34.5%   first\n---",
		                              " tag   job GET /a\n    40.0 ", " tag   GET /a\n    30.0 ",
		                              "---\n    20.0  13.8%   first\n---",
		                              " tag   route GET /a\n     5.0   3.4%   second\n" };
	static const char *const speedscope[] = {
		"{\"name\":\"route GET /a\"}", "{\"name\":\"(no tag)\"}",
		"[0,1],\n    [2,1],\n    [3,1],\n    [0,4],\n    [5,1]\n   ],\n   \"weights\":[52430400,41944320,"
	};
	static const char *const dhat[] = { "{\"tb\":5243040,\"tbk\":81922,\"fs\":[5,2]}",
		                            "\"0x0: route GET /a (in tags)\"", "\"0x0: (no tag) (in tags)\"" };
	static const char *const callgrind[] = { "fn=(3) (no tag)\n",
		                                 "fn=(5) job GET /a\ncob=(1)\ncfn=(1)\ncalls=655380 0\n0 41944320\n" };
	struct jprof_profile *p = profile_of_tagged(&mixed);
	check_contains(p, "traces", traces, jp_count(traces));
	check_contains(p, "speedscope", speedscope, jp_count(speedscope));
	check_contains(p, "dhat", dhat, jp_count(dhat));
	check_contains(p, "callgrind", callgrind, jp_count(callgrind));
	jprof_profile_free(p);
}

/* What the biggest path was allocated for. */
TEST(test_path)
{
	struct asked functions = { 0 };
	struct jprof_profile *p = profile_of_tagged(&mixed);
	struct jprof_path *path = NULL;
	name_once(p);
	struct jprof_view *view = view_of(p, &functions);
	assert_int_equal(jprof_path_new(view, &path, NULL), 0);
	assert_string_equal(path->names[path->count - 1], "first");
	assert_string_equal(path->tag, "route GET /a");
	assert_near(path->tag_value / path->value, 50.0 / 140);
	jprof_path_free(path);
	jprof_view_free(view);
	jprof_profile_free(p);
}
