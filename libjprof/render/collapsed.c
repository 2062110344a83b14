/* Collapsed stacks, one line each: ROOT;...;LEAF VALUE. What flame graph tools read. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "model/profile.h"
#include "render/render.h"

/* Stacks of equal names are one line. */
struct lines {
	struct jp_intern names;
	double *value; /* by id in names */
	size_t cap;
};

/* A name as a part of such a line: the separators are not allowed in it. */
static void add_name(struct jp_strbuf *line, const struct jprof_profile *p, const struct jp_frame *frame, bool full)
{
	const struct jp_function *f = &p->functions[frame->function];
	for (const char *s = jp_string(p, full ? f->name : f->brief); *s; s++)
		jp_strbuf_add(line, *s == ';' ? ":" : (unsigned char)*s < 0x20 || *s == 0x7f ? "?" : s, 1);
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
		if (id == JP_NONE || jp_array_reserve(&lines->value, &lines->cap, (size_t)id + 1, sizeof *lines->value))
			return -1;
		if (id == known)
			lines->value[id] = 0;
		lines->value[id] += p->samples[i].value[opts->counter];
	}
	return 0;
}

/* One line to be written. */
struct row {
	const char *name;
	double value;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->name, ((const struct row *)b)->name);
}

static int write_sorted(const struct lines *lines, struct jp_strbuf *out)
{
	struct row *rows = calloc((size_t)lines->names.count + 1, sizeof *rows);
	if (!rows)
		return -1;
	for (uint32_t i = 0; i < lines->names.count; i++)
		rows[i] = (struct row){ jp_intern_get(&lines->names, i), trunc(lines->value[i]) };
	qsort(rows, lines->names.count, sizeof *rows, by_name);
	for (uint32_t i = 0; i < lines->names.count; i++)
		if (rows[i].value != 0)
			jp_strbuf_printf(out, "%s %.0f\n", rows[i].name, rows[i].value);
	free(rows);
	return 0;
}

int jp_render_collapsed(const struct jprof_profile *profile, const struct jprof_view_opts *opts, struct jp_strbuf *out,
                        struct jprof_error *err)
{
	struct lines lines = { 0 };
	int rc = collect(&lines, profile, opts);
	if (!rc)
		rc = write_sorted(&lines, out);
	jp_intern_release(&lines.names);
	free(lines.value);
	return rc ? jp_error_nomem(err) : 0;
}
