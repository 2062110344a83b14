/* Everything that the text report and `jprof info` show, as JSON: docs/json.md, docs/json.schema.json. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/jsonout.h"
#include "base/opts.h"
#include "model/pairs.h"
#include "render/agecells.h"
#include "render/jsontags.h"
#include "render/render.h"
#include "view/callers.h"
#include "view/rowages.h"

/* Changes that old readers would misread raise it; new members do not. */
enum { schema_version = 2 };
/* Decimals of objects and bytes, and of percentages. */
enum { value_decimals = 3, percent_decimals = 4 };

static const char *const granularities[] = { "function", "line", "file",  "address", "library",
	                                     "site",     "kind", "group", "tag" };
static const char *const origins[] = { "native", "application", "gem", "stdlib", "vm" };
static const char *const percent_keys[] = { "rows", "base", "changes" };
static const char *const proofs[] = { "no_file", "contradicted", "unverified", "inode", "build_id", "input" };

static void put_value(struct jp_jsonout *j, const char *key, double value)
{
	jp_jsonout_number(j, key, value, value_decimals);
}

static void put_json_percent(struct jp_jsonout *j, const char *key, double value, double whole)
{
	jp_jsonout_number(j, key, whole != 0 ? value * 100 / whole : NAN, percent_decimals);
}

static void put_json_range(struct jp_jsonout *j, const char *key, const struct jprof_range *range)
{
	jp_jsonout_open(j, key, '{', true);
	put_value(j, "error", range->error);
	put_value(j, "low", range->low);
	put_value(j, "high", range->high);
	put_value(j, "samples", range->samples);
	jp_jsonout_bool(j, "few_samples", range->few_samples);
	jp_jsonout_bool(j, "within_error", range->within_error);
	jp_jsonout_close(j);
}

static void put_json_counters(struct jp_jsonout *j, const char *key, const double *values)
{
	static const enum jprof_counter order[] = { JPROF_INUSE_OBJECTS, JPROF_INUSE_SPACE, JPROF_ALLOC_OBJECTS,
		                                    JPROF_ALLOC_SPACE };
	jp_jsonout_open(j, key, '{', true);
	for (size_t i = 0; i < jp_count(order); i++)
		put_value(j, jp_counter_names[order[i]], values[order[i]]);
	jp_jsonout_close(j);
}

/* ---- the head ---------------------------------------------------------------------------------- */

static void put_json_profile(struct jp_jsonout *j, const struct jprof_profile *p, enum jprof_counter counter)
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
	if (info->synthetic)
		jp_jsonout_uint(j, "synthetic", info->synthetic);
	jp_jsonout_uint(j, "depth", info->depth);
	if (p->cut.cut[JPROF_INUSE_SPACE] > 0 || p->cut.cut[JPROF_ALLOC_SPACE] > 0)
		jp_jsonout_number(j, "cut", jprof_profile_cut(p, counter), 6);
	jp_jsonout_uint(j, "merged", info->inputs);
	jp_jsonout_bool(j, "has_alloc", info->has_alloc);
	jp_jsonout_close(j);
}

static void put_json_view(struct jp_jsonout *j, const struct jprof_view_info *info, const char *thread,
                          const struct jprof_report_opts *opts)
{
	jp_jsonout_open(j, "view", '{', false);
	jp_jsonout_string(j, "counter", jp_counter_names[info->counter]);
	jp_jsonout_string(j, "unit", jp_counts_bytes(info->counter) ? "bytes" : "objects");
	jp_jsonout_string(j, "granularity", granularities[info->granularity]);
	jp_jsonout_string(j, "order", opts && opts->cum ? "cum" : "flat");
	jp_jsonout_string(j, "sort", opts && opts->by_change ? "change" : "value");
	jp_jsonout_bool(j, "full_names", info->full_names);
	jp_jsonout_string(j, "thread", thread);
	jp_jsonout_close(j);
}

static void put_process_sums(struct jp_jsonout *j, const char *key, const struct jprof_profile *profile, bool base)
{
	struct jprof_outside sums;
	jprof_profile_outside(profile, base, &sums);
	if (!sums.processes) {
		jp_jsonout_null(j, key);
		return;
	}
	jp_jsonout_open(j, key, '{', true);
	jp_jsonout_uint(j, "processes", sums.processes);
	put_value(j, "rss_anon", sums.rss_anon);
	put_value(j, "pss", sums.pss);
	put_value(j, "gc_heap", sums.gc_heap);
	put_value(j, "kept_by_jemalloc", sums.kept);
	jp_jsonout_close(j);
}

static void put_name_of(struct jp_jsonout *j, const char *key, const struct jp_process *process)
{
	char pid[32];
	snprintf(pid, sizeof pid, "%llu", (unsigned long long)process->pid);
	jp_jsonout_string(j, key, *process->name ? process->name : pid);
}

static void put_alone(struct jp_jsonout *j, const char *key, const struct jp_process *list, const struct jp_pair *pairs,
                      size_t count)
{
	jp_jsonout_open(j, key, '[', true);
	for (size_t i = 0; i < count; i++)
		if (pairs[i].with == jp_alone)
			put_name_of(j, NULL, &list[i]);
	jp_jsonout_close(j);
}

/* Of a difference: which of its processes is compared with which, where they are known. */
static int put_compared(struct jp_jsonout *j, const struct jprof_profile *profile)
{
	struct jp_compared jp_cleanup(jp_compared_release) c;
	size_t same = 0;
	if (jp_compared_of(profile, &c))
		return -1;
	if (!c.count || !c.base_count)
		return 0;
	for (size_t i = 0; i < c.count; i++)
		same += c.pairs[i].same;
	jp_jsonout_open(j, "compared", '{', false);
	jp_jsonout_uint(j, "same", same);
	jp_jsonout_open(j, "replaced", '[', true);
	for (size_t i = 0; i < c.count; i++)
		if (c.pairs[i].with != jp_alone && !c.pairs[i].same) {
			jp_jsonout_open(j, NULL, '{', true);
			put_name_of(j, "base", &c.base[c.pairs[i].with]);
			put_name_of(j, "now", &c.now[i]);
			jp_jsonout_close(j);
		}
	jp_jsonout_close(j);
	put_alone(j, "only_now", c.now, c.pairs, c.count);
	put_alone(j, "only_base", c.base, c.base_pairs, c.base_count);
	jp_jsonout_bool(j, "common_stacks", !profile->nothing_common);
	jp_jsonout_close(j);
	return 0;
}

/* ---- ages ---------------------------------------------------------------------------------------- */

/* Seconds; null where it is not known. */
static void put_moment(struct jp_jsonout *j, const char *key, uint64_t milliseconds)
{
	jp_jsonout_number(j, key, milliseconds ? (double)milliseconds / 1000 : NAN, 3);
}

/* The line of time: rows name its epochs by their place here. */
static void put_epochs(struct jp_jsonout *j, const struct jprof_view *view)
{
	static const char *const stages[JP_STAGES] = { [JP_STAGE_UNKNOWN] = "unknown",
		                                       [JP_STAGE_SINCE] = "since_startup",
		                                       [JP_STAGE_STARTUP] = "startup",
		                                       [JP_STAGE_FORK] = "before_fork" };
	static const char *const ages_of[] = { NULL, "flat", "cum" };
	if (!view->ages)
		return;
	jp_jsonout_open(j, "ages", '{', false);
	jp_jsonout_string(j, "of", ages_of[view->info.ages]);
	put_moment(j, "began", view->ages->began);
	put_moment(j, "now", view->ages->now);
	put_moment(j, "older", view->info.older);
	put_moment(j, "newer", view->info.newer);
	jp_jsonout_open(j, "epochs", '[', false);
	for (uint32_t i = 0; i < view->ages->count; i++) {
		jp_jsonout_open(j, NULL, '{', true);
		put_moment(j, "begin", view->ages->epochs[i].begin);
		put_moment(j, "end", view->ages->epochs[i].end);
		jp_jsonout_string(j, "stage", stages[view->ages->epochs[i].stage]);
		jp_jsonout_close(j);
	}
	jp_jsonout_close(j);
	jp_jsonout_close(j);
}

static void put_json_ages(struct jp_jsonout *j, const struct jprof_view *view, const struct jprof_row *row)
{
	size_t count;
	const struct jp_view_slice *s = jp_row_slices(view, row, &count);
	jp_jsonout_open(j, "ages", '{', true);
	put_value(j, "last_hour", row->last_hour);
	put_value(j, "older", row->older);
	put_value(j, "startup", row->startup);
	put_value(j, "before_fork", row->before_fork);
	jp_jsonout_string(j, "shape", row->shape ? jp_shape_keys[row->shape] : NULL);
	put_value(j, "samples", row->shape_samples);
	jp_jsonout_open(j, "epochs", '[', true);
	for (size_t i = 0; i < count; i++) {
		jp_jsonout_open(j, NULL, '{', true);
		if (s[i].epoch == JP_NONE)
			jp_jsonout_null(j, "epoch");
		else
			jp_jsonout_uint(j, "epoch", s[i].epoch);
		put_value(j, "value", s[i].value);
		put_value(j, "samples", s[i].samples);
		jp_jsonout_close(j);
	}
	jp_jsonout_close(j);
	jp_jsonout_close(j);
}

/* ---- the table --------------------------------------------------------------------------------- */

static void put_json_row(struct jp_jsonout *j, const struct jprof_view *view, const struct jprof_row *row,
                         const char *caller, double sum)
{
	double whole = jp_whole(view);
	jp_jsonout_open(j, NULL, '{', true);
	jp_jsonout_string(j, "name", row->name);
	put_value(j, "flat", row->flat);
	put_json_percent(j, "flat_percent", row->flat, whole);
	put_json_percent(j, "sum_percent", sum, whole);
	put_value(j, "cum", row->cum);
	put_json_percent(j, "cum_percent", row->cum, whole);
	put_json_range(j, "flat_range", &row->flat_range);
	put_json_range(j, "cum_range", &row->cum_range);
	jp_jsonout_string(j, "object", row->object);
	jp_jsonout_string(j, "file", row->file);
	jp_jsonout_uint(j, "line", row->line);
	jp_jsonout_string(j, "source", jp_source_names[row->source]);
	jp_jsonout_string(j, "called_by", caller);
	if (row->library) {
		jp_jsonout_string(j, "origin", origins[row->origin]);
		jp_jsonout_string(j, "library", row->library);
	}
	if (row->from) {
		jp_jsonout_string(j, "from", row->from);
		put_json_percent(j, "from_percent", row->from_value, row->flat);
	}
	put_value(j, "mean_size", row->mean);
	if (jp_counts_ever(view->info.counter)) {
		put_value(j, "freed", row->freed);
		put_value(j, "live", row->live);
	}
	if (view->info.ages)
		put_json_ages(j, view, row);
	jp_jsonout_close(j);
}

static int put_json_sizes(struct jp_jsonout *j, const struct jprof_view *view, struct jprof_error *err)
{
	struct jprof_sizes *sizes;
	int rc = jprof_sizes_new(view, &sizes, err);
	if (rc)
		return rc;
	jp_jsonout_open(j, "sizes", '[', false);
	for (size_t i = 0; i < jprof_sizes_count(sizes); i++) {
		const struct jprof_size *size = jprof_sizes_at(sizes, i);
		jp_jsonout_open(j, NULL, '{', true);
		put_value(j, "up_to", size->limit > 0 ? size->limit : NAN);
		put_value(j, "bytes", size->bytes);
		put_value(j, "objects", size->objects);
		put_json_range(j, "range", &size->range);
		jp_jsonout_close(j);
	}
	jp_jsonout_close(j);
	jprof_sizes_free(sizes);
	return 0;
}

/* Total, what is 100 %, the rows and the sizes of one view. */
static int put_table(struct jp_jsonout *j, const struct jprof_view *view, const struct jprof_report_opts *opts,
                     struct jprof_error *err)
{
	const struct jprof_table_opts order = {
		.size = sizeof order, .cum = opts->cum, .top = opts->top, .by_change = opts->by_change
	};
	struct jprof_table *table;
	double sum = 0;
	int rc = jprof_table_new(view, &order, &table, err);
	if (rc)
		return rc;
	const char **callers = jp_sole_callers(view);
	if (!callers) {
		jprof_table_free(table);
		return jp_error_nomem(err);
	}
	put_value(j, "total", view->info.total);
	put_json_range(j, "total_range", &view->info.range);
	put_value(j, "percent_of", jp_whole(view));
	jp_jsonout_string(j, "shares", percent_keys[view->info.shares]);
	jp_jsonout_open(j, "rows", '[', false);
	for (size_t i = 0; i < jprof_table_count(table); i++) {
		const struct jprof_row *row = jprof_table_at(table, i);
		sum += row->flat;
		put_json_row(j, view, row, jp_sole_caller(view, callers, row), sum);
		jp_strbuf_drain(j->out);
	}
	jp_jsonout_close(j);
	jprof_table_free(table);
	free(callers);
	return put_json_sizes(j, view, err);
}

/* ---- threads ------------------------------------------------------------------------------------- */

/* --thread=*: each thread with a table of its own. */
static int put_json_threads(struct jp_jsonout *j, const struct jprof_view *view, const struct jprof_report_opts *opts,
                            struct jprof_error *err)
{
	int rc = 0;
	jp_jsonout_open(j, "threads", '[', false);
	for (size_t i = 0; !rc && i < view->thread_count; i++) {
		struct jprof_view *part;
		rc = jprof_view_thread(view, i, &part, err);
		if (rc)
			return rc;
		jp_jsonout_open(j, NULL, '{', false);
		jp_jsonout_string(j, "thread", part->info.thread);
		rc = put_table(j, part, opts, err);
		jp_jsonout_close(j);
		jprof_view_free(part);
	}
	jp_jsonout_close(j);
	return rc;
}

/* ---- coverage -------------------------------------------------------------------------------------- */

/* With the program's words, if it has any. */
static void put_json_advice(struct jp_jsonout *j, const struct jprof_coverage_file *f,
                            const struct jprof_report_opts *opts)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	jp_strbuf_str(&text, f->advice);
	jp_strbuf_str(&text, jp_advice_words(opts, f->advised));
	j->out->failed = j->out->failed || text.failed;
	jp_jsonout_string(j, "advice", text.len ? text.text : NULL);
}

/* `sources` of them: no source of Ruby where there is no Ruby. */
static void put_json_file(struct jp_jsonout *j, const struct jprof_coverage_file *f, int sources,
                          const struct jprof_report_opts *opts)
{
	jp_jsonout_open(j, NULL, '{', true);
	jp_jsonout_string(j, "path", f->path);
	jp_jsonout_string(j, "build_id", *f->build_id ? f->build_id : NULL);
	jp_jsonout_string(j, "proof", proofs[f->proof]);
	jp_jsonout_string(j, "reason", *f->reason ? f->reason : NULL);
	put_json_advice(j, f, opts);
	jp_jsonout_open(j, "values", '{', true);
	for (int s = 0; s < sources; s++)
		put_value(j, jp_source_names[s], f->bytes[s]);
	jp_jsonout_close(j);
	jp_jsonout_open(j, "addresses", '{', true);
	for (int s = 0; s < sources; s++)
		jp_jsonout_uint(j, jp_source_names[s], f->addresses[s]);
	jp_jsonout_close(j);
	jp_jsonout_close(j);
}

static int put_json_coverage(struct jp_jsonout *j, const struct jprof_view *view, const struct jprof_report_opts *opts,
                             struct jprof_error *err)
{
	struct jprof_coverage *coverage;
	int rc = jprof_coverage_new(view, &coverage, err);
	if (rc)
		return rc;
	jp_jsonout_number(j, "named", jprof_coverage_named(coverage), 6);
	jp_jsonout_open(j, "coverage", '[', false);
	for (size_t i = 0; i < jprof_coverage_count(coverage); i++)
		put_json_file(j, jprof_coverage_at(coverage, i),
		              view->profile->info.has_ruby ? JPROF_SOURCES : JPROF_SOURCE_RUBY, opts);
	jp_jsonout_close(j);
	jprof_coverage_free(coverage);
	return 0;
}

/* ---- the document ------------------------------------------------------------------------------------ */

/* `opts` are NULL where no rows follow. */
static void put_json_head(struct jp_jsonout *j, const struct jprof_view *view, const struct jprof_report_opts *opts)
{
	const char *thread = view->info.thread ? view->info.thread : view->info.heading;
	jp_jsonout_open(j, NULL, '{', false);
	jp_jsonout_uint(j, "jprof_json", schema_version);
	jp_jsonout_string(j, "version", jprof_version());
	const char *base = opts ? jp_view_base(view) : NULL;
	jp_jsonout_open(j, "inputs", '[', true);
	for (size_t i = 0; i < view->profile->input_count; i++)
		jp_jsonout_string(j, NULL, jp_view_input(view, i));
	jp_jsonout_close(j);
	jp_jsonout_string(j, "base", base);
	put_json_profile(j, view->profile, view->info.counter);
	put_json_view(j, &view->info, opts ? thread : NULL, opts);
	put_json_counters(j, "totals", view->total);
	if (view->info.difference)
		put_json_counters(j, "base_totals", view->base_total);
	else
		jp_jsonout_null(j, "base_totals");
	/* What lies outside of the profile. */
	jp_jsonout_open(j, "outside", '{', false);
	put_process_sums(j, "now", view->profile, false);
	put_process_sums(j, "base", view->profile, true);
	jp_jsonout_close(j);
	if (view->info.difference && put_compared(j, view->profile))
		j->out->failed = true;
	const char *bound = jprof_profile_bound(view->profile, view->info.counter);
	jp_jsonout_open(j, "notes", '[', false);
	for (size_t i = 0; i < jprof_profile_notes(view->profile); i++)
		jp_jsonout_string(j, NULL, jprof_profile_note(view->profile, i));
	jp_jsonout_close(j);
	jp_jsonout_string(j, "bound", *bound ? bound : NULL);
}

int jp_render_json(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                   struct jprof_error *err)
{
	struct jp_jsonout j = { .out = out };
	put_json_head(&j, view, opts);
	put_epochs(&j, view);
	int rc = put_table(&j, view, opts, err);
	if (!rc && jp_put_json_tags(&j, view))
		rc = jp_error_nomem(err);
	if (!rc)
		rc = put_json_threads(&j, view, opts, err);
	if (!rc)
		rc = put_json_coverage(&j, view, opts, err);
	jp_jsonout_close(&j);
	return rc;
}

int jprof_render_info(const struct jprof_view *view, const struct jprof_dump *dump,
                      const struct jprof_report_opts *given, jprof_write_fn *write, void *context,
                      struct jprof_error *err)
{
	if (jp_null(err, view) || (!write && jp_null(err, NULL)))
		return JPROF_E_ARGUMENT;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) out = { .write = write, .context = context };
	struct jp_jsonout j = { .out = &out };
	struct jprof_report_opts opts;
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	if (rc)
		return rc;
	put_json_head(&j, view, NULL);
	/* The threads of the dump itself, which does not keep stacks apart for them. */
	jp_jsonout_open(&j, "threads", '[', false);
	for (size_t i = 0; dump && i < jprof_dump_info(dump)->threads; i++) {
		const struct jprof_dump_thread *t = jprof_dump_thread(dump, i);
		jp_jsonout_open(&j, NULL, '{', true);
		jp_jsonout_uint(&j, "id", t->id);
		jp_jsonout_string(&j, "name", t->name);
		put_json_counters(&j, "totals", t->total);
		jp_jsonout_close(&j);
	}
	jp_jsonout_close(&j);
	rc = put_json_coverage(&j, view, &opts, err);
	jp_jsonout_close(&j);
	return rc ? rc : jp_report_end(&out, err);
}
