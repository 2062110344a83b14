/* Everything that the text report and `jprof info` show, as JSON: docs/internals/json.md,
 * docs/internals/json.schema.json. */
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
static const unsigned schema_version = 2;

static const char *const granularities[] = { "function", "line", "file",  "address", "library",
	                                     "site",     "kind", "group", "tag" };
static const char *const origins[] = { "native", "application", "gem", "stdlib", "vm" };
static const char *const percent_keys[] = { "rows", "base", "changes" };
static const char *const proofs[] = { "no_file", "contradicted", "unverified", "inode", "build_id", "input" };

static void put_value(struct jp_jsonout *j, const char *key, double value)
{
	jp_jsonout_number(j, key, value, 3);
}

static double percent_of(double value, double whole)
{
	return whole != 0 ? value * 100 / whole : NAN;
}

static void put_json_range(struct jp_jsonout *j, const char *key, const struct jprof_range *range)
{
	jp_jsonout_open(j, key, '{', true);
	jp_jsonout_put(j, "error:%.3f low:%.3f high:%.3f samples:%.3f few_samples:%i within_error:%i}", range->error,
	               range->low, range->high, range->samples, range->few_samples, range->within_error);
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
	jp_jsonout_put(j, "profile:{\nformat:%s", info->format);
	if (p->rate)
		jp_jsonout_put(j, "rate:%ju", p->rate);
	else
		jp_jsonout_null(j, "rate");
	jp_jsonout_put(j, "stacks:%zu addresses:%zu", info->stacks, info->addresses);
	if (info->synthetic)
		jp_jsonout_put(j, "synthetic:%zu", info->synthetic);
	jp_jsonout_put(j, "depth:%zu", info->depth);
	if (p->cut.cut[JPROF_INUSE_SPACE] > 0 || p->cut.cut[JPROF_ALLOC_SPACE] > 0)
		jp_jsonout_put(j, "cut:%.6f", jprof_profile_cut(p, counter));
	jp_jsonout_put(j, "merged:%zu has_alloc:%i}", info->inputs, info->has_alloc);
}

static void put_json_view(struct jp_jsonout *j, const struct jprof_view_info *info, const char *thread,
                          const struct jprof_report_opts *opts)
{
	jp_jsonout_put(j, "view:{\ncounter:%s unit:%s granularity:%s order:%s sort:%s full_names:%i thread:%s}",
	               jp_counter_names[info->counter], jp_counts_bytes(info->counter) ? "bytes" : "objects",
	               granularities[info->granularity], opts && opts->cum ? "cum" : "flat",
	               opts && opts->by_change ? "change" : "value", info->full_names, thread);
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
	jp_jsonout_put(j, "processes:%u rss_anon:%.3f pss:%.3f gc_heap:%.3f kept_by_jemalloc:%.3f}", sums.processes,
	               sums.rss_anon, sums.pss, sums.gc_heap, sums.kept);
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
	jp_jsonout_put(j, "compared:{\nsame:%zu replaced:[", same);
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
	jp_jsonout_put(j, "common_stacks:%i}", !profile->nothing_common);
	return 0;
}

/* ---- ages ---------------------------------------------------------------------------------------- */

/* Seconds; NAN where it is not known. */
static double moment(uint64_t milliseconds)
{
	return milliseconds ? (double)milliseconds / 1000 : NAN;
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
	jp_jsonout_put(j, "ages:{\nof:%s began:%.3f now:%.3f older:%.3f newer:%.3f epochs:[\n",
	               ages_of[view->info.ages], moment(view->ages->began), moment(view->ages->now),
	               moment(view->info.older), moment(view->info.newer));
	for (uint32_t i = 0; i < view->ages->count; i++) {
		const struct jp_aged *epoch = &view->ages->epochs[i];
		jp_jsonout_put(j, "{begin:%.3f end:%.3f stage:%s}", moment(epoch->begin), moment(epoch->end),
		               stages[epoch->stage]);
	}
	jp_jsonout_put(j, "]}");
}

static void put_json_ages(struct jp_jsonout *j, const struct jprof_view *view, const struct jprof_row *row)
{
	size_t count;
	const struct jp_view_slice *s = jp_row_slices(view, row, &count);
	jp_jsonout_put(j,
	               "ages:{last_hour:%.3f older:%.3f startup:%.3f before_fork:%.3f shape:%s samples:%.3f epochs:[",
	               row->last_hour, row->older, row->startup, row->before_fork,
	               row->shape ? jp_shape_keys[row->shape] : NULL, row->shape_samples);
	for (size_t i = 0; i < count; i++)
		jp_jsonout_put(j, "{epoch:%f value:%.3f samples:%.3f}", s[i].epoch == JP_NONE ? NAN : s[i].epoch,
		               s[i].value, s[i].samples);
	jp_jsonout_put(j, "]}");
}

/* ---- the table --------------------------------------------------------------------------------- */

static void put_json_row(struct jp_jsonout *j, const struct jprof_view *view, const struct jprof_row *row,
                         const char *caller, double sum)
{
	double whole = jp_whole(view);
	jp_jsonout_put(j, "{name:%s flat:%.3f flat_percent:%.4f sum_percent:%.4f cum:%.3f cum_percent:%.4f", row->name,
	               row->flat, percent_of(row->flat, whole), percent_of(sum, whole), row->cum,
	               percent_of(row->cum, whole));
	put_json_range(j, "flat_range", &row->flat_range);
	put_json_range(j, "cum_range", &row->cum_range);
	jp_jsonout_put(j, "object:%s file:%s line:%u source:%s called_by:%s", row->object, row->file, row->line,
	               jp_source_names[row->source], caller);
	if (row->library)
		jp_jsonout_put(j, "origin:%s library:%s", origins[row->origin], row->library);
	if (row->from)
		jp_jsonout_put(j, "from:%s from_percent:%.4f", row->from, percent_of(row->from_value, row->flat));
	jp_jsonout_put(j, "mean_size:%.3f", row->mean);
	if (jp_counts_ever(view->info.counter))
		jp_jsonout_put(j, "freed:%.3f live:%.3f", row->freed, row->live);
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
		jp_jsonout_put(j, "{up_to:%.3f bytes:%.3f objects:%.3f", size->limit > 0 ? size->limit : NAN,
		               size->bytes, size->objects);
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
	jp_jsonout_put(j, "percent_of:%.3f shares:%s rows:[\n", jp_whole(view), percent_keys[view->info.shares]);
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
		jp_jsonout_put(j, "{\nthread:%s", part->info.thread);
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
	jp_jsonout_put(j, "{path:%s build_id:%s proof:%s reason:%s", f->path, *f->build_id ? f->build_id : NULL,
	               proofs[f->proof], *f->reason ? f->reason : NULL);
	put_json_advice(j, f, opts);
	jp_jsonout_put(j, "values:{");
	for (int s = 0; s < sources; s++)
		put_value(j, jp_source_names[s], f->bytes[s]);
	jp_jsonout_put(j, "}addresses:{");
	for (int s = 0; s < sources; s++)
		jp_jsonout_uint(j, jp_source_names[s], f->addresses[s]);
	jp_jsonout_put(j, "}}");
}

static int put_json_coverage(struct jp_jsonout *j, const struct jprof_view *view, const struct jprof_report_opts *opts,
                             struct jprof_error *err)
{
	struct jprof_coverage *coverage;
	int rc = jprof_coverage_new(view, &coverage, err);
	if (rc)
		return rc;
	jp_jsonout_put(j, "named:%.6f coverage:[\n", jprof_coverage_named(coverage));
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
	jp_jsonout_put(j, "{\njprof_json:%u version:%s inputs:[", schema_version, jprof_version());
	for (size_t i = 0; i < view->profile->input_count; i++)
		jp_jsonout_string(j, NULL, jp_view_input(view, i));
	jp_jsonout_put(j, "]base:%s", opts ? jp_view_base(view) : NULL);
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
		jp_jsonout_put(&j, "{id:%ju name:%s", t->id, t->name);
		put_json_counters(&j, "totals", t->total);
		jp_jsonout_close(&j);
	}
	jp_jsonout_close(&j);
	rc = put_json_coverage(&j, view, &opts, err);
	jp_jsonout_close(&j);
	return rc ? rc : jp_report_end(&out, err);
}
