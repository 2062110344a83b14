#include "render/errors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { number = 48, cell = 2 * number + 8, widest_name = 60 };

/* One range as text. */
struct cells {
	char error[cell], ends[cell], samples[cell];
};

struct widths {
	int error, ends, samples;
};

struct error_row {
	struct cells flat, cum;
};

struct jp_error_column {
	struct error_row *rows;
	struct widths flat, cum;
	size_t name;
};

/* KB and more with two places, objects and bytes whole; `round_to` says which way. No zero is negative. */
static void put_bound(char text[number], double value, double round_to(double), enum jp_unit unit)
{
	if (unit > JP_BYTES)
		snprintf(text, number, "%.2f", round_to(value / jp_unit_size(unit) * 100) / 100 + 0.0);
	else
		snprintf(text, number, "%.0f", round_to(value) + 0.0);
}

const char *jp_doubt(const struct jprof_range *range)
{
	return range->within_error ? " (within error)" : range->few_samples ? " (few samples)" : "";
}

/* The ends are rounded outwards. */
static void put_cells(struct cells *cells, const struct jprof_range *range, enum jp_unit unit)
{
	char error[number], low[number], high[number];
	if (isnan(range->error)) {
		*cells = (struct cells){ "+-?", "[?, ?]", "n=?" };
		return;
	}
	put_bound(error, range->error, round, unit);
	put_bound(low, range->low, floor, unit);
	put_bound(high, range->high, ceil, unit);
	snprintf(cells->error, cell, "+-%s", error);
	snprintf(cells->ends, cell, "[%s, %s]", low, high);
	snprintf(cells->samples, cell, "n=%.0f%s", range->samples, jp_doubt(range));
}

/* A row that holds nothing itself, only in what it calls. */
static void put_value_cells(struct cells *cells, const struct jprof_range *range, double value, enum jp_unit unit)
{
	if (value == 0 && range->samples == 0 && !isnan(range->error))
		*cells = (struct cells){ "-", "", "" };
	else
		put_cells(cells, range, unit);
}

static void widen(int *width, const char *text)
{
	int len = (int)strlen(text);
	if (len > *width)
		*width = len;
}

static void measure(struct widths *w, const struct cells *cells)
{
	widen(&w->error, cells->error);
	widen(&w->ends, cells->ends);
	widen(&w->samples, cells->samples);
}

static size_t visible_length(const char *name, struct jp_strbuf *scratch)
{
	jp_strbuf_cut(scratch, 0);
	jp_strbuf_visible(scratch, name);
	return scratch->len;
}

static bool lay_out(struct jp_error_column *c, const struct jprof_table *table, enum jp_unit unit)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) name = { 0 };
	for (size_t i = 0; i < jprof_table_count(table); i++) {
		const struct jprof_row *row = jprof_table_at(table, i);
		put_value_cells(&c->rows[i].flat, &row->flat_range, row->flat, unit);
		put_value_cells(&c->rows[i].cum, &row->cum_range, row->cum, unit);
		measure(&c->flat, &c->rows[i].flat);
		measure(&c->cum, &c->rows[i].cum);
		size_t len = visible_length(row->name, &name);
		if (len > c->name && len <= widest_name)
			c->name = len;
	}
	return !name.failed;
}

size_t jp_error_column_width(const struct jp_error_column *c)
{
	const struct widths *flat = &c->flat, *cum = &c->cum;
	static const char words[] = "  flat     cum   ";
	return sizeof words - 1 +
	       (size_t)(flat->error + flat->ends + flat->samples + cum->error + cum->ends + cum->samples);
}

struct jp_error_column *jp_error_column_new(const struct jprof_table *table, enum jp_unit unit)
{
	struct jp_error_column *c = calloc(1, sizeof *c);
	if (c)
		c->rows = calloc(jprof_table_count(table) + 1, sizeof *c->rows);
	if (!c || !c->rows || !lay_out(c, table, unit)) {
		jp_error_column_free(c);
		return NULL;
	}
	return c;
}

void jp_error_column_put(const struct jp_error_column *c, size_t i, size_t name_len, struct jp_strbuf *out)
{
	const struct cells *flat = &c->rows[i].flat, *cum = &c->rows[i].cum;
	int pad = name_len < c->name ? (int)(c->name - name_len) : 0;
	jp_strbuf_printf(out, "%*s  flat %-*s %-*s %-*s", pad, "", c->flat.error, flat->error, c->flat.ends, flat->ends,
	                 c->flat.samples, flat->samples);
	jp_strbuf_printf(out, "  cum %-*s %-*s %s", c->cum.error, cum->error, c->cum.ends, cum->ends, cum->samples);
}

void jp_error_column_free(struct jp_error_column *column)
{
	if (!column)
		return;
	free(column->rows);
	free(column);
}

void jp_error_put(const struct jprof_range *range, double value, enum jp_unit unit, struct jp_strbuf *out)
{
	struct cells cells;
	put_value_cells(&cells, range, value, unit);
	jp_strbuf_printf(out, "%s%s", cells.error, jp_doubt(range));
}

/* What the total is of, and what shares are of where that is something else. */
static void put_meaning(const struct jprof_view_info *info, const struct jprof_report_opts *opts, enum jp_unit unit,
                        struct jp_strbuf *out)
{
	static const char *const words[] = {
		[JPROF_SHARES_OF_BASE] = "in the base", [JPROF_SHARES_OF_CHANGES] = "that grew or shrank"
	};
	if (opts->plain_total)
		return;
	if (opts->total_of)
		jp_strbuf_printf(out, " %s", opts->total_of);
	if (info->shares == JPROF_SHARES_OF_ROWS)
		return;
	jp_strbuf_printf(out, "; shares are of the %s %s %s", jp_shown_value(info->percent_of, unit).text,
	                 jp_unit_name(unit), words[info->shares]);
}

void jp_put_total(const struct jprof_view *view, const struct jprof_report_opts *opts, enum jp_unit unit,
                  struct jp_strbuf *out)
{
	const struct jprof_view_info *info = jprof_view_info(view);
	if (info->total == 0)
		return;
	jp_strbuf_str(out, info->heading ? "Total (" : "Total");
	jp_strbuf_visible(out, info->heading ? info->heading : "");
	jp_strbuf_printf(out, "%s: %s %s", info->heading ? ")" : "", jp_shown_value(info->total, unit).text,
	                 jp_unit_name(unit));
	put_meaning(info, opts, unit, out);
	if (info->errors) {
		struct cells cells;
		put_cells(&cells, &info->range, unit);
		jp_strbuf_printf(out, "  %s %s standard error, %s with 95 %% confidence, %s samples", cells.error,
		                 jp_unit_name(unit), cells.ends, cells.samples);
	}
	jp_strbuf_str(out, "\n");
}
