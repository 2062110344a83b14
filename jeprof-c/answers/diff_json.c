#include "answers/diff_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "answers/explain_words.h"
#include "cli/shortage.h"

void diff_put_json_text(FILE *out, const char *key, const char *text)
{
	char *quoted = shortage_note(jprof_json_text(text));
	fprintf(out, "\"%s\": %s", key, quoted ? quoted : "null");
	free(quoted);
}

void diff_put_json_number(FILE *out, const char *key, double number)
{
	if (isfinite(number))
		fprintf(out, "\"%s\": %.0f", key, round(number) + 0.0); /* no -0 */
	else
		fprintf(out, "\"%s\": null", key);
}

/* "growth", "low", "high" ... of a change. */
static void put_json_change(FILE *out, const struct jprof_change *change)
{
	const struct jprof_range *range = &change->range;
	bool known = !isnan(range->error);
	diff_put_json_number(out, "growth", change->growth);
	fputs(", ", out);
	diff_put_json_number(out, "low", known ? range->low : NAN);
	fputs(", ", out);
	diff_put_json_number(out, "high", known ? range->high : NAN);
	fputs(", ", out);
	diff_put_json_number(out, "error", known ? range->error : NAN);
	fputs(", ", out);
	diff_put_json_number(out, "samples", known ? range->samples : NAN);
	fputs(", ", out);
	diff_put_json_number(out, "seconds", change->seconds);
}

static void put_json_values(FILE *out, const char *key, const double *values, size_t count)
{
	fprintf(out, "\"%s\": [", key);
	for (size_t i = 0; i < count; i++)
		if (isfinite(values[i]))
			fprintf(out, "%s%.0f", i ? ", " : "", values[i] + 0.0);
		else
			fputs(i ? ", null" : "null", out);
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

/* "shape": null without ages. */
static void put_json_shape(FILE *out, const char *key, enum jprof_shape shape)
{
	fprintf(out, ", ");
	diff_put_json_text(out, key, shape == JPROF_SHAPE_NONE ? NULL : jprof_shape_key(shape));
}

static void put_json_row_ages(FILE *out, const struct jprof_grown *row)
{
	const struct jprof_age_band *band;
	put_json_shape(out, "shape", row->shape);
	put_json_shape(out, "shape_since", row->shape_since);
	fputs(", ", out);
	diff_put_json_number(out, "begun", row->begun);
	fprintf(out, isnan(row->kept) ? ", \"kept\": null" : ", \"kept\": %.3f", row->kept);
	fputs(row->ages ? ", \"ages\": [" : ", \"ages\": null", out);
	for (size_t i = 0; row->ages && (band = jprof_age_band(i)); i++) {
		fprintf(out, "%s{\"age\": \"%s\", ", i ? ", " : "", band->key);
		diff_put_json_number(out, "under", band->under);
		fprintf(out, ", \"bytes\": %.0f}", row->ages[i] + 0.0);
	}
	fputs(row->ages ? "]" : "", out);
}

static void put_json_tags(FILE *out, const struct jprof_grown *row)
{
	fputs(", \"tags\": [", out);
	for (size_t i = 0; i < row->tag_count; i++) {
		fputs(i ? ", {" : "{", out);
		diff_put_json_text(out, "tag", row->tags[i].tag);
		fprintf(out, ", \"growth\": %.0f}", row->tags[i].bytes);
	}
	fputs("]", out);
}

void diff_put_json_row(FILE *out, const struct diff_report *r, const struct jprof_grown *row)
{
	size_t snapshots = jprof_series_info(r->loaded->series)->snapshots;
	fputs("{", out);
	diff_put_json_text(out, "verdict", jprof_verdict_words(row->verdict)->key);
	fputs(", ", out);
	diff_put_json_text(out, "part", words_of_part(row->part)->key);
	fputs(", ", out);
	diff_put_json_text(out, "name", name_of_grown(row));
	fputs(", ", out);
	put_json_change(out, &row->whole);
	fputs(", ", out);
	put_json_values(out, "values", row->values, snapshots);
	fputs(", ", out);
	put_json_steps(out, row->steps, snapshots - 1);
	fprintf(out, ", \"chance\": ");
	fprintf(out, isnan(row->chance) ? "null, " : "%.3g, ", row->chance);
	diff_put_json_number(out, "seen", row->seen);
	fputs(", ", out);
	diff_put_json_number(out, "objects", row->objects);
	fputs(", ", out);
	diff_put_json_text(out, "file", row->file);
	fputs(", ", out);
	diff_put_json_number(out, "line", row->line ? (double)row->line : NAN);
	const char *const texts[][2] = { { "library", row->library }, { "kind", row->kind }, { "what", row->what },
		                         { "do", row->remedy },       { "from", row->from }, { "path", row->path } };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		fputs(", ", out);
		diff_put_json_text(out, texts[i][0], texts[i][1]);
	}
	put_json_row_ages(out, row);
	put_json_tags(out, row);
	fputs("}", out);
}

static void put_json_outlier(FILE *out, const struct jprof_series_info *info)
{
	if (!*info->outlier) {
		fputs("\"outlier\": null,\n  ", out);
		return;
	}
	fputs("\"outlier\": {", out);
	diff_put_json_text(out, "process", info->outlier);
	fputs(", ", out);
	diff_put_json_number(out, "growth", info->outlier_growth);
	fputs(", ", out);
	diff_put_json_number(out, "others", info->others_growth);
	fputs("},\n  ", out);
}

static void put_json_info(FILE *out, const struct diff_report *r)
{
	const struct loaded_series *l = r->loaded;
	const struct jprof_series_info *info = jprof_series_info(l->series);
	fputs("  \"snapshots\": [", out);
	for (size_t i = 0; i < l->count; i++) {
		char *quoted = shortage_note(jprof_json_text(l->paths[i]));
		fprintf(out, "%s%s", i ? ", " : "", quoted ? quoted : "null");
		free(quoted);
	}
	fputs("],\n  ", out);
	diff_put_json_text(out, "program", *info->program ? info->program : NULL);
	fprintf(out, ", \"processes\": [%zu, %zu], \"replaced\": %zu, \"same_program\": %s,\n  ", info->processes[0],
	        info->processes[1], info->replaced, info->same_program ? "true" : "false");
	fprintf(out, "\"lines_moved\": %s, \"grouped\": %s, ", info->moved ? "true" : "false",
	        l->by == r->options->by ? "false" : "true");
	put_json_outlier(out, info);
	diff_put_json_number(out, "seconds", info->seconds);
	fprintf(out, ", \"ruby\": %s, \"collected\": %s, \"ages\": %s, \"bound\": %s,\n  ",
	        info->ruby ? "true" : "false", info->collected ? "true" : "false", info->ages ? "true" : "false",
	        info->bound ? "true" : "false");
	diff_put_json_number(out, "memory_first", info->total[0]);
	fputs(", ", out);
	diff_put_json_number(out, "memory_last", info->total[1]);
	fputs(", ", out);
	put_json_values(out, "memory", info->memory, info->snapshots);
	fputs(", ", out);
	diff_put_json_number(out, "seen", info->seen);
	fprintf(out, ", \"judged\": %zu,\n", info->rows);
}

static void put_json_objects(FILE *out, const struct jprof_series *series)
{
	const struct jprof_object_change *o;
	fputs(",\n  \"objects\": [", out);
	for (size_t i = 0; (o = jprof_series_object(series, i)); i++) {
		fputs(i ? ",\n    {" : "\n    {", out);
		diff_put_json_text(out, "name", o->name);
		fprintf(out, ", \"class\": %s, \"growth\": %.0f, \"objects_growth\": %.0f",
		        o->is_class ? "true" : "false", o->bytes[1] - o->bytes[0] + 0.0,
		        o->count[1] - o->count[0] + 0.0);
		fprintf(out, ", \"bytes\": [%.0f, %.0f], \"objects\": [%.0f, %.0f]}", o->bytes[0], o->bytes[1],
		        o->count[0], o->count[1]);
	}
	fputs("]", out);
}

void diff_put_json_notes(FILE *out, const struct loaded_series *l)
{
	fputs(",\n  \"notes\": [", out);
	for (size_t i = 0; i < l->note_count; i++) {
		char *quoted = shortage_note(jprof_json_text(l->notes[i]));
		fprintf(out, "%s%s", i ? ", " : "", quoted ? quoted : "null");
		free(quoted);
	}
	fputs("]", out);
}

void diff_put_json(FILE *out, const struct diff_report *r)
{
	const struct loaded_series *l = r->loaded;
	size_t top = r->options->common.top, count = jprof_series_count(l->series);
	char *answer = NULL;
	size_t len;
	FILE *text = shortage_note(open_memstream(&answer, &len));
	fputs("{\n  \"jprof_diff\": 1,\n", out);
	put_json_info(out, r);
	if (text) {
		diff_put_answer(text, r);
		if (shortage_close(text, &answer))
			answer[strcspn(answer, "\n")] = '\0';
	}
	fputs("  ", out);
	diff_put_json_text(out, "answer", answer);
	free(answer);
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
