#include "fuzz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/utf8.h"
#include "model/profile.h"

_Noreturn void fuzz_failed(const char *what, const char *file, int line)
{
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	abort();
}

static void check_refusal(int rc, const struct jprof_error *err)
{
	must(rc == err->code && *err->text);
	for (const char *s = err->text; *s; s++)
		must((unsigned char)*s >= 0x20 && *s != 0x7f);
}

static struct jprof_profile *parse(const void *data, size_t size)
{
	struct jprof_error err = { 0 };
	struct jprof_profile *profile = NULL;
	int rc = jprof_profile_parse(data, size, "fuzz", NULL, &profile, &err);
	if (rc)
		check_refusal(rc, &err);
	return rc ? NULL : profile;
}

static int to_buffer(void *context, const void *data, size_t len)
{
	jp_strbuf_add(context, data, len);
	return 0;
}

/* All names that it came with, and no others. */
static struct jprof_profile *named(struct jprof_profile *profile)
{
	const struct jprof_symbolize_opts opts = { .size = sizeof opts,
		                                   .sysroot = "/proc/self/fdinfo",
		                                   .no_lookup = true };
	must(profile && !jprof_profile_symbolize(profile, &opts, NULL));
	return profile;
}

static struct jprof_view *view_of(const struct jprof_profile *profile, enum jprof_fold fold, bool errors)
{
	const struct jprof_view_opts opts = { .size = sizeof opts, .fold = fold, .errors = errors };
	struct jprof_view *view;
	must(!jprof_view_new(profile, &opts, &view, NULL));
	return view;
}

static struct jp_strbuf write_proto(const struct jprof_profile *profile)
{
	struct jp_strbuf out = { 0 };
	struct jprof_view *view = view_of(profile, JPROF_FOLD_RAW, false);
	must(!jprof_render(view, "proto", NULL, to_buffer, &out, NULL) && !out.failed);
	jprof_view_free(view);
	return out;
}

static double written(double value)
{
	return fabs(value) < 0x1p63 ? value : value > 0 ? (double)INT64_MAX : -(double)INT64_MAX;
}

/* Whole numbers are written such that they sum up to the whole part of the total. */
static void check_totals(const struct jprof_profile *p, const struct jprof_profile *read)
{
	for (int c = 0; c < JPROF_COUNTERS; c++) {
		double sum = 0, size = 1, total = jprof_profile_total(read, (enum jprof_counter)c);
		for (uint32_t i = 0; i < jp_sample_count(p); i++) {
			must(isfinite(jprof_profile_value(p, i, c)));
			sum += written(jprof_profile_value(p, i, c));
			size += fabs(written(jprof_profile_value(p, i, c)));
		}
		must(fabs(sum - total) <= 1 + 1e-12 * size);
	}
}

/* Text that is UTF-8 without control characters. */
static void check_text(const struct jp_strbuf *out)
{
	for (size_t at = 0; at < out->len;) {
		size_t len = jp_utf8_len(out->text + at);
		must(len);
		must((unsigned char)out->text[at] >= 0x20 || strchr("\r\n", out->text[at]));
		at += len;
	}
}

/* What is opened outside of strings is closed, in order; strings end on their line. */
static void check_json(const struct jp_strbuf *out)
{
	char open[64];
	size_t depth = 0;
	bool quoted = false;
	for (size_t i = 0; i < out->len; i++) {
		char c = out->text[i];
		must(!quoted || c != '\n');
		if (quoted && c == '\\')
			i++;
		else if (c == '"')
			quoted = !quoted;
		else if (!quoted && (c == '{' || c == '[')) {
			must(depth < sizeof open);
			open[depth++] = c == '{' ? '}' : ']';
		} else if (!quoted && (c == '}' || c == ']'))
			must(depth && open[--depth] == c);
	}
	must(!depth && !quoted && out->len);
}

/* Lines of bytes that do not steer a terminal. */
static void check_lines(const struct jp_strbuf *out)
{
	for (size_t i = 0; i < out->len; i++)
		must((unsigned char)out->text[i] >= 0x20 || strchr("\t\n", out->text[i]));
	must(!out->len || out->text[out->len - 1] == '\n');
}

/* Every format of the library. A pattern for names finds none where nothing has memory; code may not be there. */
static void check_reports(const struct jprof_view *view)
{
	const struct jprof_report_opts opts = { .size = sizeof opts, .pattern = "." };
	const struct jprof_format *format;
	for (size_t i = 0; (format = jprof_format_at(i)); i++) {
		struct jp_strbuf out = { 0 };
		int rc = jprof_render(view, format->name, &opts, to_buffer, &out, NULL);
		must(!rc || rc == JPROF_E_UNSUPPORTED || (rc == JPROF_E_ARGUMENT && format->argument));
		if (!rc && format->for_people)
			check_lines(&out);
		if (!rc && format->errors)
			check_text(&out);
		jp_strbuf_release(&out);
	}
}

static void check_documents(const struct jprof_view *view)
{
	static const char *const formats[] = { "json", "speedscope", "dhat" };
	struct jp_strbuf out = { 0 };
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		jp_strbuf_cut(&out, 0);
		int rc = jprof_render(view, formats[i], NULL, to_buffer, &out, NULL);
		must(!rc || (rc == JPROF_E_UNSUPPORTED && !strcmp(formats[i], "dhat")));
		check_text(&out);
		if (!rc)
			check_json(&out);
	}
	jp_strbuf_cut(&out, 0);
	must(!jprof_render_info(view, NULL, NULL, to_buffer, &out, NULL));
	check_text(&out);
	check_json(&out);
	jp_strbuf_release(&out);
}

/* The whole graph has the table's rows; of a small one every arrow joins nodes that are there, each its own pair. */
static void check_graph(const struct jprof_view *view)
{
	const struct jprof_graph_opts whole = { .size = sizeof whole, .whole = true };
	const struct jprof_graph_opts few = { .size = sizeof few, .nodecount = 4, .maxdegree = 2 };
	struct jprof_graph *g;
	struct jprof_table *table;
	must(!jprof_table_new(view, NULL, &table, NULL) && !jprof_graph_new(view, &whole, &g, NULL));
	must(jprof_graph_nodes(g) == jprof_table_count(table) && !jprof_graph_info(g)->dropped_nodes);
	jprof_graph_free(g);
	jprof_table_free(table);
	must(!jprof_graph_new(view, &few, &g, NULL));
	must(jprof_graph_nodes(g) <= 4);
	for (size_t i = 0; i < jprof_graph_edges(g); i++) {
		const struct jprof_edge *e = jprof_graph_edge(g, i);
		must(e->from < jprof_graph_nodes(g) && e->to < jprof_graph_nodes(g) &&
		     (e->from != e->to || !e->residual));
		for (size_t k = 0; k < i; k++)
			must(jprof_graph_edge(g, k)->from != e->from || jprof_graph_edge(g, k)->to != e->to);
	}
	jprof_graph_free(g);
}

static void check_round_trip(const struct jprof_profile *p)
{
	struct jprof_view *view = view_of(p, JPROF_FOLD_ALLOC, true);
	check_reports(view);
	check_documents(view);
	check_graph(view);
	jprof_view_free(view);
	struct jp_strbuf first = write_proto(p);
	struct jprof_profile *read = parse(first.text, first.len);
	must(read && !jprof_profile_notes(read));
	check_totals(p, read);
	struct jp_strbuf second = write_proto(named(read));
	struct jprof_profile *again = named(parse(second.text, second.len));
	struct jp_strbuf third = write_proto(again);
	must(second.len == third.len && !memcmp(second.text, third.text, second.len));
	jprof_profile_free(read);
	jprof_profile_free(again);
	jp_strbuf_release(&first);
	jp_strbuf_release(&second);
	jp_strbuf_release(&third);
}

static void check_difference(const void *data, size_t size)
{
	struct jprof_profile *p = parse(data, size), *same = parse(data, size);
	uint32_t samples = p ? jp_sample_count(p) : 0;
	must(p && same && !jprof_profile_difference(p, same, NULL));
	must(jp_sample_count(p) == samples);
	for (uint32_t i = 0; i < samples; i++)
		for (int c = 0; c < JPROF_COUNTERS; c++)
			must(jprof_profile_value(p, i, c) == 0);
	jprof_profile_free(p);
	jprof_profile_free(same);
}

void fuzz_profile(const uint8_t *data, size_t size, enum jp_format format)
{
	struct jprof_profile *p = jp_sniff(data, size) == format ? parse(data, size) : NULL;
	if (!p)
		return;
	check_difference(data, size);
	check_round_trip(named(p));
	jprof_view_free(view_of(p, JPROF_FOLD_VM, false));
	jprof_profile_free(p);
}
