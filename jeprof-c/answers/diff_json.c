#include "answers/diff_json.h"

#include <math.h>
#include <stdlib.h>

#include "answers/explain_words.h"
#include "cli/jsonprint.h"
#include "cli/shortage.h"

/* "growth", "low", "high" ... of a change. */
static void put_json_change(FILE *out, const struct jprof_change *change)
{
	const struct jprof_range *range = &change->range;
	bool known = !isnan(range->error);
	json_print(out, "\"growth\": %f, \"low\": %f, \"high\": %f, \"error\": %f, \"samples\": %f, \"seconds\": %f",
	           change->growth, known ? range->low : NAN, known ? range->high : NAN, known ? range->error : NAN,
	           known ? range->samples : NAN, change->seconds);
}

static void put_json_values(FILE *out, const char *key, const double *values, size_t count)
{
	json_print(out, "%s: [", key);
	for (size_t i = 0; i < count; i++)
		json_print_at(out, i, "%f", values[i]);
	fputs("]", out);
}

static void put_json_steps(FILE *out, const struct jprof_change *steps, size_t count)
{
	fputs("\"steps\": [", out);
	for (size_t i = 0; i < count; i++) {
		fputs(i ? ", {" : "{", out);
		put_json_change(out, &steps[i]);
		fputs("}", out);
	}
	fputs("]", out);
}

/* NULL without ages. */
static const char *key_of_shape(enum jprof_shape shape)
{
	return shape == JPROF_SHAPE_NONE ? NULL : jprof_shape_key(shape);
}

static void put_json_row_ages(FILE *out, const struct jprof_grown *row)
{
	const struct jprof_age_band *band;
	json_print(out, ", \"shape\": %s, \"shape_since\": %s, \"begun\": %f, \"kept\": %.3f, \"ages\": ",
	           key_of_shape(row->shape), key_of_shape(row->shape_since), row->begun, row->kept);
	fputs(row->ages ? "[" : "null", out);
	for (size_t i = 0; row->ages && (band = jprof_age_band(i)); i++)
		json_print_at(out, i, "{\"age\": %s, \"under\": %f, \"bytes\": %f}", band->key, band->under,
		              row->ages[i]);
	fputs(row->ages ? "]" : "", out);
}

static void put_json_tags(FILE *out, const struct jprof_grown *row)
{
	fputs(", \"tags\": [", out);
	for (size_t i = 0; i < row->tag_count; i++)
		json_print_at(out, i, "{\"tag\": %s, \"growth\": %f}", row->tags[i].tag, row->tags[i].bytes);
	fputs("]", out);
}

/* Of what may leak: to ask it of each row would take long. */
static void put_json_keeper(FILE *out, const struct diff_report *r, const struct jprof_grown *row)
{
	bool asked = row->verdict == JPROF_LEAK_SUSPECT || row->verdict == JPROF_GROWING;
	fputs(", \"kept_by\": ", out);
	if (asked && row->part == JPROF_PART_LIVE && row->file && row->line)
		line_keepers_json(out, &r->keepers, row->file, row->line);
	else
		fputs("null", out);
}

void diff_put_json_row(FILE *out, const struct diff_report *r, const struct jprof_grown *row)
{
	size_t snapshots = jprof_series_info(r->loaded->series)->snapshots;
	json_print(out, "{\"verdict\": %s, \"part\": %s, \"name\": %s, ", jprof_verdict_words(row->verdict)->key,
	           words_of_part(row->part)->key, name_of_grown(row));
	put_json_change(out, &row->whole);
	fputs(", ", out);
	put_json_values(out, "values", row->values, snapshots);
	fputs(", ", out);
	put_json_steps(out, row->steps, snapshots - 1);
	json_print(out, ", \"chance\": %.3g, \"seen\": %f, \"objects\": %f, \"file\": %s, \"line\": %f", row->chance,
	           row->seen, row->objects, row->file, row->line ? (double)row->line : NAN);
	json_print(out, ", \"library\": %s, \"kind\": %s, \"what\": %s, \"do\": %s, \"from\": %s, \"path\": %s",
	           row->library, row->kind, row->what, row->remedy, row->from, row->path);
	json_print(out, ", \"of_gc_heap\": %i", row->of_gc_heap);
	put_json_row_ages(out, row);
	put_json_tags(out, row);
	put_json_keeper(out, r, row);
	fputs("}", out);
}

static void put_json_info(FILE *out, const struct diff_report *r)
{
	const struct loaded_series *l = r->loaded;
	const struct jprof_series_info *info = jprof_series_info(l->series);
	fputs("  \"snapshots\": [", out);
	for (size_t i = 0; i < l->count; i++)
		json_print_at(out, i, "%s", l->paths[i]);
	json_print(out,
	           "],\n  \"program\": %s, \"processes\": [%zu, %zu], \"replaced\": %zu, \"same_program\": %i,\n  ",
	           *info->program ? info->program : NULL, info->processes[0], info->processes[1], info->replaced,
	           info->same_program);
	json_print(out, "\"lines_moved\": %i, \"grouped\": %i, \"outlier\": ", info->moved, l->by != r->options->by);
	if (*info->outlier)
		json_print(out, "{\"process\": %s, \"growth\": %f, \"others\": %f}", info->outlier,
		           info->outlier_growth, info->others_growth);
	else
		fputs("null", out);
	json_print(
	    out,
	    ",\n  \"seconds\": %f, \"ruby\": %i, \"collected\": %i, \"ages\": %i, \"slots\": %i, \"bound\": %i,\n  ",
	    info->seconds, info->ruby, info->collected, info->ages, info->slots, info->bound);
	json_print(out, "\"memory_first\": %f, \"memory_last\": %f, ", info->total[0], info->total[1]);
	put_json_values(out, "memory", info->memory, info->snapshots);
	json_print(out, ", \"seen\": %f, \"judged\": %zu,\n", info->seen, info->rows);
}

static void put_json_objects(FILE *out, const struct jprof_series *series)
{
	const struct jprof_object_change *o;
	fputs(",\n  \"objects\": [", out);
	for (size_t i = 0; (o = jprof_series_object(series, i)); i++) {
		fputs(i ? ",\n    {" : "\n    {", out);
		json_print(out, "\"name\": %s, \"class\": %i, \"growth\": %f, \"objects_growth\": %f", o->name,
		           o->is_class, o->bytes[1] - o->bytes[0], o->count[1] - o->count[0]);
		json_print(out, ", \"bytes\": [%f, %f], \"objects\": [%f, %f]}", o->bytes[0], o->bytes[1], o->count[0],
		           o->count[1]);
	}
	fputs("]", out);
}

void diff_put_json_notes(FILE *out, const struct loaded_series *l)
{
	fputs(",\n  \"notes\": [", out);
	for (size_t i = 0; i < l->note_count; i++)
		json_print_at(out, i, "%s", l->notes[i]);
	fputs("]", out);
}

void diff_put_json(FILE *out, const struct diff_report *r)
{
	const struct loaded_series *l = r->loaded;
	size_t top = r->options->common.top, count = jprof_series_count(l->series);
	struct jp_strbuf answer = { 0 };
	diff_add_answer(&answer, r);
	fputs("{\n  \"jprof_diff\": 1,\n", out);
	put_json_info(out, r);
	json_print(out, "  \"answer\": %s", shortage_text(&answer));
	jp_strbuf_release(&answer);
	diff_put_json_notes(out, l);
	fputs(",\n  \"malloc\": ", out);
	diff_put_json_row(out, r, jprof_series_malloc(l->series));
	put_json_objects(out, l->series);
	fputs(",\n  \"rows\": [", out);
	for (size_t i = 0; i < count && (top == TOP_FITS || !top || i < top); i++) {
		fputs(i ? ",\n    " : "\n    ", out);
		diff_put_json_row(out, r, jprof_series_at(l->series, i));
	}
	fputs("\n  ]\n}\n", out);
}

/* ---- CSV ---------------------------------------------------------------------------------------------------- */

static void put_diff_csv_number(FILE *out, double number)
{
	if (isfinite(number))
		fprintf(out, ",%.0f", number + 0.0);
	else
		fputc(',', out);
}

void diff_put_csv(FILE *out, const struct diff_report *r)
{
	const struct jprof_series *series = r->loaded->series;
	size_t top = r->options->common.top, snapshots = jprof_series_info(series)->snapshots;
	fputs("verdict,part,growth,low,high,samples", out);
	for (size_t i = 1; i <= snapshots; i++)
		fprintf(out, ",value%zu", i);
	fputs(",name\n", out);
	for (size_t i = 0; i < jprof_series_count(series) && (top == TOP_FITS || !top || i < top); i++) {
		const struct jprof_grown *row = jprof_series_at(series, i);
		const struct jprof_range *range = &row->whole.range;
		bool known = !isnan(range->error);
		fprintf(out, "%s,%s", jprof_verdict_words(row->verdict)->key, words_of_part(row->part)->key);
		put_diff_csv_number(out, row->whole.growth);
		put_diff_csv_number(out, known ? range->low : NAN);
		put_diff_csv_number(out, known ? range->high : NAN);
		put_diff_csv_number(out, known ? range->samples : NAN);
		for (size_t v = 0; v < snapshots; v++)
			put_diff_csv_number(out, row->values[v]);
		char *name = shortage_note(jprof_csv_text(name_of_grown(row)));
		fprintf(out, ",%s\n", name ? name : "");
		free(name);
	}
}
