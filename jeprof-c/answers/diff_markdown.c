/* A diff for a ticket. */
#include <math.h>
#include <string.h>

#include "answers/diff_text.h"
#include "base/strbuf.h"
#include "cli/shortage.h"

/* A name as code: without what would end a cell. */
static void put_markdown_name(FILE *out, const char *name)
{
	struct jp_strbuf shown = { 0 };
	jp_strbuf_visible(&shown, name);
	for (size_t i = 0; i < shown.len; i++)
		if (strchr("|`", shown.text[i]))
			shown.text[i] = '\'';
	fprintf(out, "`%s`", shortage_text(&shown));
	jp_strbuf_release(&shown);
}

void diff_put_markdown(FILE *out, const struct diff_report *r)
{
	const struct jprof_series *series = r->loaded->series;
	const struct jprof_grown *row;
	struct jp_strbuf text = { 0 };
	diff_add_head(&text, r);
	jp_strbuf_str(&text, "\n\n");
	diff_add_answer(&text, r);
	fprintf(out, "%s\n\n| growth (%s) | +-95 %% | first | last | verdict | allocated at |\n", shortage_text(&text),
	        r->measure.name);
	fputs("| ---: | ---: | ---: | ---: | --- | --- |\n", out);
	jp_strbuf_release(&text);
	size_t top = r->options->common.top, shown = 0;
	for (size_t i = 0; (row = jprof_series_at(series, i)); i++) {
		double half = diff_half_interval(&row->whole.range), unit = r->measure.bytes;
		if ((diff_is_quiet(row) && top != 0) || (top && top != TOP_FITS && shown == top))
			continue;
		shown++;
		fprintf(out, "| %+.1f | ", row->whole.growth / unit);
		if (!isnan(half))
			fprintf(out, "%.1f ", half / unit);
		fprintf(out, "| %.1f | %.1f | %s | ", row->values[0] / unit,
		        row->values[jprof_series_info(series)->snapshots - 1] / unit,
		        jprof_verdict_words(row->verdict)->shown);
		put_markdown_name(out, name_of_grown(row));
		fputs(" |\n", out);
	}
}
