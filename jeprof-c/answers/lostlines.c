#include "answers/lostlines.h"

#include "cli/jsonprint.h"
#include "cli/say.h"
#include "cli/terminal.h"

enum { most_lines_shown = 12 };

bool lost_lines_load(struct lost_lines *l, const struct loaded *now, const struct inputs *inputs,
                     const struct options *given)
{
	struct jprof_error err;
	struct options o = *given;
	o.quiet = true; /* what there is to note was said of all samples */
	o.errors = true;
	o.granularity =
	    o.granularity == JPROF_BY_ADDRESS || o.granularity == ROWS_BY_REFERRER ? ROWS_USUAL : o.granularity;
	*l = (struct lost_lines){ .sampled = *jprof_profile_info(now->profile)->format };
	if (!load_profile(&l->loaded, inputs, &o))
		return false;
	if (!*jprof_profile_info(l->loaded.profile)->format)
		return true;
	l->view = load_view(&l->loaded, &o);
	if (l->view && !jprof_table_new(l->view, NULL, &l->rows, &err))
		return true;
	if (l->view)
		say_error(&err);
	return false;
}

/* Rows come by their own bytes: what only called others is behind them. */
static size_t count_allocating(const struct lost_lines *l)
{
	const struct jprof_row *row;
	size_t count = 0;
	while ((row = jprof_table_at(l->rows, count)) && row->flat > 0)
		count++;
	return count;
}

static double half_interval(const struct jprof_range *range)
{
	return (range->high - range->low) / 2;
}

static void put_lost_samples(struct jp_strbuf *text, double bytes, const struct jprof_range *range, const char *name)
{
	jp_strbuf_printf(text, "%8.2f %8.2f %8.0f  ", bytes / mb, half_interval(range) / mb, range->samples);
	jp_strbuf_visible(text, name);
	jp_strbuf_str(text, "\n");
}

static struct jprof_range range_of_all(const struct lost_lines *l)
{
	struct jprof_range range;
	jprof_profile_range(l->loaded.profile, JPROF_INUSE_SPACE, &range);
	return range;
}

static double bytes_of_all(const struct lost_lines *l)
{
	return jprof_profile_total(l->loaded.profile, JPROF_INUSE_SPACE);
}

void lost_lines_add(struct answer *a, const struct lost_lines *l)
{
	if (!l->view && l->sampled)
		jp_strbuf_str(answer_add(a, ANSWER_NOTE),
		              "None of them was sampled: what allocated them is not known.");
	if (!l->view)
		return;
	const struct jprof_range all = range_of_all(l);
	size_t count = count_allocating(l);
	jp_strbuf_printf(answer_add(a, ANSWER_NOTE),
	                 "What allocated them is an estimate: %.0f of these blocks were sampled.", all.samples);
	jp_strbuf_printf(answer_add(a, ANSWER_TABLE), "      MB       %s  samples  allocated by",
	                 terminal_plus_minus());
	for (size_t i = 0; i < count && i < most_lines_shown; i++) {
		const struct jprof_row *row = jprof_table_at(l->rows, i);
		put_lost_samples(answer_add(a, ANSWER_LINES), row->flat, &row->flat_range, row->name);
	}
	if (count > most_lines_shown)
		jp_strbuf_printf(answer_add(a, ANSWER_LINES), "%28s%zu others (--json has them)\n", "",
		                 count - most_lines_shown);
	put_lost_samples(answer_add(a, ANSWER_LINES), bytes_of_all(l), &all, "all of them");
}

static void put_estimate(FILE *out, double bytes, const struct jprof_range *range)
{
	json_print(out, "\"bytes\": %f, \"low\": %f, \"high\": %f, \"samples\": %f", bytes, range->low, range->high,
	           range->samples);
}

void lost_lines_put_json(FILE *out, const struct lost_lines *l)
{
	if (!l->view) {
		fputs("null", out);
		return;
	}
	const struct jprof_range all = range_of_all(l);
	fputs("{", out);
	put_estimate(out, bytes_of_all(l), &all);
	fputs(", \"rows\": [", out);
	for (size_t i = 0, count = count_allocating(l); i < count; i++) {
		const struct jprof_row *row = jprof_table_at(l->rows, i);
		json_print_at(out, i, "\n    {\"name\": %s, ", row->name);
		put_estimate(out, row->flat, &row->flat_range);
		fputs("}", out);
	}
	fputs("] }", out);
}

void lost_lines_free(struct lost_lines *l)
{
	jprof_table_free(l->rows);
	jprof_view_free(l->view);
	loaded_free(&l->loaded);
	*l = (struct lost_lines){ 0 };
}
