/* Collapsed stacks, one line each: ROOT;...;LEAF VALUE, what flame graph tools read; or ROOT;...;LEAF BASE NEW,
 * as difffolded.pl writes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/utf8.h"
#include "model/profile.h"
#include "render/render.h"

/* Stacks of equal names are one line. */
struct line {
	double value;
	double base;
};

struct lines {
	struct jp_intern names;
	struct line *of; /* by id in names */
	size_t cap;
};

/* A name as a part of such a line: the separators are not allowed in it. */
static void add_name(struct jp_strbuf *line, const struct jprof_profile *p, const struct jp_frame *frame, bool full)
{
	const struct jp_function *f = &p->functions[frame->function];
	size_t n;
	for (const char *s = jp_string(p, full ? f->name : f->brief); *s; s += n ? n : 1) {
		n = jp_utf8_len(s);
		if (!n)
			jp_strbuf_str(line, JP_UTF8_REPLACEMENT);
		else
			jp_strbuf_add(line, *s == ';' ? ":" : (unsigned char)*s < 0x20 || *s == 0x7f ? "?" : s, n);
	}
	if (frame->inlined)
		jp_strbuf_str(line, "[inline]");
}

static void add_stack(struct jp_strbuf *line, const struct jprof_profile *p, const struct jp_sample *sample, bool full)
{
	size_t depth;
	const uint32_t *stack = jp_stack_get(p, sample->stack, &depth);
	for (size_t i = depth; i-- > 0;) {
		const struct jp_location *l = &p->locations[stack[i]];
		for (uint32_t f = l->frame_count; f-- > 0;) {
			if (line->len)
				jp_strbuf_str(line, ";");
			add_name(line, p, &p->frames[l->frame_first + f], full);
		}
	}
}

static int collect(struct lines *lines, const struct jprof_profile *p, const struct jprof_view_opts *opts)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) line = { 0 };
	for (uint32_t i = 0; i < jp_sample_count(p); i++) {
		jp_strbuf_cut(&line, 0);
		if (!jp_in_view(p, opts, &p->samples[i]))
			continue;
		add_stack(&line, p, &p->samples[i], opts->full_names);
		if (line.failed)
			return -1;
		if (!line.len)
			continue;
		uint32_t known = lines->names.count, id = jp_intern(&lines->names, line.text, line.len);
		if (id == JP_NONE || jp_array_reserve(&lines->of, &lines->cap, (size_t)id + 1, sizeof *lines->of))
			return -1;
		if (id == known)
			lines->of[id] = (struct line){ 0 };
		lines->of[id].value += p->samples[i].value[opts->counter];
		lines->of[id].base += jp_sample_less(&p->samples[i])->base[opts->counter];
	}
	return 0;
}

/* One line to be written. */
struct row {
	const char *name;
	struct line line;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

static struct row *sorted(const struct lines *lines)
{
	struct row *rows = calloc((size_t)lines->names.count + 1, sizeof *rows);
	for (uint32_t i = 0; rows && i < lines->names.count; i++)
		rows[i] = (struct row){ jp_intern_get(&lines->names, i), lines->of[i] };
	if (rows)
		qsort(rows, lines->names.count, sizeof *rows, by_name);
	return rows;
}

typedef void put_rows_fn(const struct row *rows, size_t count, struct jp_strbuf *out);

static void put_values(const struct row *rows, size_t count, struct jp_strbuf *out)
{
	for (size_t i = 0; i < count; i++)
		if (trunc(rows[i].line.value) != 0)
			jp_strbuf_printf(out, "%s %.0f\n", rows[i].name, trunc(rows[i].line.value));
}

/* Whole numbers that sum up to the two totals. Subtracting leaves traces of rounding. */
static void put_both(const struct row *rows, size_t count, struct jp_strbuf *out)
{
	double base_sum = 0, now_sum = 0;
	for (size_t i = 0; i < count; i++) {
		double now = rows[i].line.base + rows[i].line.value;
		double base_step = jp_whole_step(&base_sum, fmax(rows[i].line.base, 0));
		double now_step = jp_whole_step(&now_sum, now > 1e-6 ? now : 0);
		if (base_step != 0 || now_step != 0)
			jp_strbuf_printf(out, "%s %.0f %.0f\n", rows[i].name, base_step, now_step);
	}
}

static int render(const struct jprof_profile *profile, const struct jprof_view_opts *opts, put_rows_fn *put,
                  struct jp_strbuf *out, struct jprof_error *err)
{
	struct lines lines = { 0 };
	int rc = collect(&lines, profile, opts);
	struct row *rows = rc ? NULL : sorted(&lines);
	if (rows)
		put(rows, lines.names.count, out);
	rc = rows ? 0 : -1;
	free(rows);
	jp_intern_release(&lines.names);
	free(lines.of);
	return rc ? jp_error_nomem(err) : 0;
}

int jp_render_collapsed(const struct jprof_profile *profile, const struct jprof_view_opts *opts, struct jp_strbuf *out,
                        struct jprof_error *err)
{
	return render(profile, opts, put_values, out, err);
}

int jp_render_diff_collapsed(const struct jprof_profile *profile, const struct jprof_view_opts *opts,
                             struct jp_strbuf *out, struct jprof_error *err)
{
	if (!profile->lineage.subtracted && !opts->base)
		return jp_error(
		    err, JPROF_E_ARGUMENT, NULL, 0,
		    "--diff-collapsed shows two dumps side by side; give the early one with --diff_base=DUMP");
	return render(profile, opts, put_both, out, err);
}
