/* Everything that the text report and `jprof info` show, as JSON: docs/json.md, docs/json.schema.json. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/jsonout.h"
#include "ops/ranges.h"
#include "render/render.h"

/* Changes that old readers would misread raise it; new members do not. */
enum { schema_version = 1 };
/* Decimals of objects and bytes, and of percentages. */
enum { value_decimals = 3, percent_decimals = 4 };

static const char *const granularities[] = { "function", "line", "file", "address", "library" };
static const char *const proofs[] = { "no_file", "contradicted", "unverified", "inode", "build_id", "input" };

static void put_value(struct jp_jsonout *j, const char *key, double value)
{
	jp_jsonout_number(j, key, value, value_decimals);
}

static void put_percent(struct jp_jsonout *j, const char *key, double value, double whole)
{
	jp_jsonout_number(j, key, whole != 0 ? value * 100 / whole : NAN, percent_decimals);
}

static void put_range(struct jp_jsonout *j, const char *key, const struct jprof_range *range)
{
	jp_jsonout_open(j, key, '{', true);
	put_value(j, "error", range->error);
	put_value(j, "low", range->low);
	put_value(j, "high", range->high);
	put_value(j, "samples", range->samples);
	jp_jsonout_bool(j, "noise", range->noise);
	jp_jsonout_close(j);
}

static void put_counters(struct jp_jsonout *j, const char *key, const double *values)
{
	jp_jsonout_open(j, key, '{', true);
	for (int c = 0; c < JPROF_COUNTERS; c++)
		put_value(j, jp_counter_names[c], values[c]);
	jp_jsonout_close(j);
}

/* ---- the head ---------------------------------------------------------------------------------- */

static void put_inputs(struct jp_jsonout *j, const struct jprof_view_opts *opts)
{
	jp_jsonout_open(j, "inputs", '[', true);
	for (size_t i = 0; i < opts->input_count; i++)
		jp_jsonout_string(j, NULL, opts->inputs[i]);
	jp_jsonout_close(j);
	jp_jsonout_string(j, "base", opts->base);
}

static void put_profile(struct jp_jsonout *j, const struct jprof_profile *p)
{
	const struct jprof_profile_info *info = &p->info;
	jp_jsonout_open(j, "profile", '{', false);
	jp_jsonout_string(j, "format", info->format);
	if (p->rate)
		jp_jsonout_uint(j, "rate", p->rate);
	else
		jp_jsonout_null(j, "rate");
	jp_jsonout_uint(j, "stacks", info->stacks);
	jp_jsonout_uint(j, "addresses", info->addresses);
	jp_jsonout_uint(j, "depth", info->depth);
	jp_jsonout_uint(j, "merged", info->inputs);
	jp_jsonout_bool(j, "has_alloc", info->has_alloc);
	jp_jsonout_close(j);
}

static void put_view(struct jp_jsonout *j, const struct jprof_view_opts *opts)
{
	jp_jsonout_open(j, "view", '{', false);
	jp_jsonout_string(j, "counter", jp_counter_names[opts->counter]);
	jp_jsonout_string(j, "unit", jp_counts_bytes(opts->counter) ? "bytes" : "objects");
	jp_jsonout_string(j, "granularity", granularities[opts->granularity]);
	jp_jsonout_string(j, "order", opts->cum ? "cum" : "flat");
	jp_jsonout_bool(j, "full_names", opts->full_names);
	jp_jsonout_string(j, "thread", opts->thread ? opts->thread : opts->label);
	jp_jsonout_close(j);
}

static void put_totals(struct jp_jsonout *j, const struct jprof_profile *p)
{
	double now[JPROF_COUNTERS], base[JPROF_COUNTERS];
	for (int c = 0; c < JPROF_COUNTERS; c++) {
		now[c] = jprof_profile_total(p, (enum jprof_counter)c);
		base[c] = jp_base_total(p, (enum jprof_counter)c, NULL);
	}
	put_counters(j, "totals", now);
	if (p->lineage.subtracted)
		put_counters(j, "base_totals", base);
	else
		jp_jsonout_null(j, "base_totals");
}

static void put_notes(struct jp_jsonout *j, const struct jprof_profile *p, enum jprof_counter counter)
{
	const char *bound = jprof_profile_bound(p, counter);
	jp_jsonout_open(j, "notes", '[', false);
	for (size_t i = 0; i < p->note_count; i++)
		jp_jsonout_string(j, NULL, p->notes[i]);
	jp_jsonout_close(j);
	jp_jsonout_string(j, "bound", *bound ? bound : NULL);
}

/* ---- the table --------------------------------------------------------------------------------- */

static void put_row(struct jp_jsonout *j, const struct jprof_row *row, double sum, double whole)
{
	jp_jsonout_open(j, NULL, '{', true);
	jp_jsonout_string(j, "name", row->name);
	put_value(j, "flat", row->flat);
	put_percent(j, "flat_percent", row->flat, whole);
	put_percent(j, "sum_percent", sum, whole);
	put_value(j, "cum", row->cum);
	put_percent(j, "cum_percent", row->cum, whole);
	put_range(j, "flat_range", &row->flat_range);
	put_range(j, "cum_range", &row->cum_range);
	jp_jsonout_string(j, "object", row->object);
	jp_jsonout_string(j, "file", row->file);
	jp_jsonout_uint(j, "line", row->line);
	jp_jsonout_string(j, "source", jp_source_names[row->source]);
	jp_jsonout_close(j);
}

static void put_rows(struct jp_jsonout *j, const struct jprof_table *table, double whole)
{
	double sum = 0;
	jp_jsonout_open(j, "rows", '[', false);
	for (size_t i = 0; i < jprof_table_count(table); i++) {
		const struct jprof_row *row = jprof_table_at(table, i);
		sum += row->flat;
		put_row(j, row, sum, whole);
	}
	jp_jsonout_close(j);
}

/* Total, what is 100 %, and the rows of one view. */
static int put_table(struct jp_jsonout *j, const struct jprof_profile *p, const struct jprof_view_opts *opts,
                     struct jprof_error *err)
{
	struct jprof_table *table;
	struct jprof_range range;
	int rc = jprof_table_new(p, opts, &table, err);
	if (rc)
		return rc;
	double whole = opts->percent_of != 0 ? opts->percent_of : jprof_table_flat(table);
	jp_profile_range(p, opts->counter, opts->thread, &range);
	put_value(j, "total", jp_view_total(p, opts));
	put_range(j, "total_range", &range);
	put_value(j, "percent_of", whole);
	put_rows(j, table, whole);
	jprof_table_free(table);
	return 0;
}

/* ---- threads ------------------------------------------------------------------------------------- */

/* --thread=*: each thread with a table of its own. */
static int put_threads(struct jp_jsonout *j, const struct jprof_profile *p, const struct jprof_view_opts *opts,
                       struct jprof_error *err)
{
	int rc = 0;
	jp_jsonout_open(j, "threads", '[', false);
	for (size_t i = 0; !rc && opts->threads && i < p->thread_count; i++) {
		const struct jprof_view_opts one = jp_view_of_thread(p, opts, i);
		jp_jsonout_open(j, NULL, '{', false);
		jp_jsonout_string(j, "thread", one.thread);
		rc = put_table(j, p, &one, err);
		jp_jsonout_close(j);
	}
	jp_jsonout_close(j);
	return rc;
}

/* The threads of the dump itself, which does not keep stacks apart for them. */
static void put_dump_threads(struct jp_jsonout *j, const struct jprof_dump *dump)
{
	jp_jsonout_open(j, "threads", '[', false);
	for (size_t i = 0; dump && i < jprof_dump_info(dump)->threads; i++) {
		const struct jprof_dump_thread *t = jprof_dump_thread(dump, i);
		jp_jsonout_open(j, NULL, '{', true);
		jp_jsonout_uint(j, "id", t->id);
		jp_jsonout_string(j, "name", t->name);
		put_counters(j, "totals", t->total);
		jp_jsonout_close(j);
	}
	jp_jsonout_close(j);
}

/* ---- coverage -------------------------------------------------------------------------------------- */

static void put_file(struct jp_jsonout *j, const struct jprof_coverage_file *f)
{
	jp_jsonout_open(j, NULL, '{', true);
	jp_jsonout_string(j, "path", f->path);
	jp_jsonout_string(j, "build_id", *f->build_id ? f->build_id : NULL);
	jp_jsonout_string(j, "proof", proofs[f->proof]);
	jp_jsonout_string(j, "reason", *f->reason ? f->reason : NULL);
	jp_jsonout_string(j, "advice", *f->advice ? f->advice : NULL);
	jp_jsonout_open(j, "values", '{', true);
	for (int s = 0; s < JPROF_SOURCES; s++)
		put_value(j, jp_source_names[s], f->bytes[s]);
	jp_jsonout_close(j);
	jp_jsonout_open(j, "addresses", '{', true);
	for (int s = 0; s < JPROF_SOURCES; s++)
		jp_jsonout_uint(j, jp_source_names[s], f->addresses[s]);
	jp_jsonout_close(j);
	jp_jsonout_close(j);
}

static int put_coverage(struct jp_jsonout *j, const struct jprof_profile *p, enum jprof_counter counter,
                        struct jprof_error *err)
{
	struct jprof_coverage *coverage;
	int rc = jprof_coverage_new(p, counter, &coverage, err);
	if (rc)
		return rc;
	jp_jsonout_number(j, "named", jprof_coverage_named(coverage), 6);
	jp_jsonout_open(j, "coverage", '[', false);
	for (size_t i = 0; i < jprof_coverage_count(coverage); i++)
		put_file(j, jprof_coverage_at(coverage, i));
	jp_jsonout_close(j);
	jprof_coverage_free(coverage);
	return 0;
}

/* ---- the document ------------------------------------------------------------------------------------ */

static void put_head(struct jp_jsonout *j, const struct jprof_profile *p, const struct jprof_view_opts *opts)
{
	jp_jsonout_open(j, NULL, '{', false);
	jp_jsonout_uint(j, "jprof_json", schema_version);
	jp_jsonout_string(j, "version", jprof_version());
	put_inputs(j, opts);
	put_profile(j, p);
	put_view(j, opts);
	put_totals(j, p);
	put_notes(j, p, opts->counter);
}

int jp_render_json(const struct jprof_profile *p, const struct jprof_view_opts *given, struct jp_strbuf *out,
                   struct jprof_error *err)
{
	struct jp_jsonout j = { .out = out };
	struct jprof_view_opts opts = *given;
	opts.errors = true;
	opts.size = sizeof opts;
	put_head(&j, p, &opts);
	int rc = put_table(&j, p, &opts, err);
	if (!rc)
		rc = put_threads(&j, p, &opts, err);
	if (!rc)
		rc = put_coverage(&j, p, opts.counter, err);
	jp_jsonout_close(&j);
	return rc;
}

int jp_render_json_info(const struct jprof_profile *p, const struct jprof_view_opts *opts, struct jp_strbuf *out,
                        struct jprof_error *err)
{
	struct jp_jsonout j = { .out = out };
	put_head(&j, p, opts);
	put_dump_threads(&j, opts->dump);
	int rc = put_coverage(&j, p, opts->counter, err);
	jp_jsonout_close(&j);
	return rc;
}
