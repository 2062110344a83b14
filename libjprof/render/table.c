/* The flat and cumulative table that text reports are made of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/opts.h"
#include "model/profile.h"
#include "ops/ranges.h"
#include "render/render.h"
#include "render/rows.h"

struct jprof_table {
	struct jp_rows names;
	struct jprof_row *rows;
	size_t count, cap;
	double flat;
};

/* What the two numbers of a row rest on. */
struct row_evidence {
	struct jp_evidence flat, cum;
};

/* A table under construction. */
struct build {
	const struct jprof_profile *profile;
	const struct jprof_view_opts *opts;
	struct jprof_table *table;
	uint32_t *seen; /* by row: 1 + the last sample that counted it */
	size_t seen_cap;
	bool *placed; /* by row: its object, file and line are set */
	size_t placed_cap;
	struct row_evidence *evidence; /* by row, if errors are asked for */
	size_t evidence_cap;
};

/* Room for another row. */
static int grow(struct build *b)
{
	struct jprof_table *t = b->table;
	if (jp_array_push(t->rows, t->count, t->cap) || jp_array_push(b->seen, t->count, b->seen_cap) ||
	    jp_array_push(b->placed, t->count, b->placed_cap))
		return -1;
	b->seen[t->count] = 0;
	b->placed[t->count] = false;
	if (!b->opts->errors)
		return 0;
	if (jp_array_push(b->evidence, t->count, b->evidence_cap))
		return -1;
	b->evidence[t->count] = (struct row_evidence){ 0 };
	return 0;
}

/* Takes a row's id and gives it; makes room for it when it is new. */
static uint32_t met(struct build *b, uint32_t row)
{
	struct jprof_table *t = b->table;
	if (row == JP_NONE || row < t->count)
		return row;
	if (grow(b))
		return JP_NONE;
	t->rows[t->count++] = (struct jprof_row){ .name = jp_intern_get(&t->names.names, row) };
	return row;
}

/* Strings of one profile: equal ones are the same. */
static const char *string_or_null(const struct build *b, uint32_t id)
{
	return id == JP_NONE || !*jp_string(b->profile, id) ? NULL : jp_string(b->profile, id);
}

/* A row lies where all of its frames do. */
static void place(struct build *b, uint32_t id, const struct jprof_row *like)
{
	struct jprof_row *row = &b->table->rows[id];
	bool first = !b->placed[id];
	b->placed[id] = true;
	row->object = first || row->object == like->object ? like->object : NULL;
	row->file = first || row->file == like->file ? like->file : NULL;
	row->line = first || (row->line == like->line && row->file) ? like->line : 0;
	row->source = first || like->source < row->source ? like->source : row->source;
}

/* The row of a frame, which is placed when it is first seen. */
static uint32_t row_of_frame(struct build *b, const struct jp_location *l, uint32_t id)
{
	const struct jp_frame *frame = &b->profile->frames[id];
	bool known = b->table->names.of_frame[id] != JP_NONE;
	uint32_t row = met(b, jp_row_of_frame(&b->table->names, l, id));
	const struct jprof_row like = { .object = string_or_null(b, b->profile->objects[l->object].path),
		                        .file = string_or_null(b, b->profile->functions[frame->function].file),
		                        .line = frame->line,
		                        .source = l->source };
	if (!known && row != JP_NONE)
		place(b, row, &like);
	return row;
}

static uint32_t row_of_object(struct build *b, uint32_t id)
{
	bool known = b->table->names.of_object[id] != JP_NONE;
	uint32_t row = met(b, jp_row_of_object(&b->table->names, id));
	if (!known && row != JP_NONE)
		place(b, row, &(const struct jprof_row){ .object = string_or_null(b, b->profile->objects[id].path) });
	return row;
}

/* What one sample adds to the rows of its stack. */
struct share {
	uint32_t sample;
	double value;
	struct jp_evidence evidence; /* if errors are asked for */
};

/* A row counts once per stack, however often recursion passes through it. */
static void count_cum(struct build *b, uint32_t row, const struct share *share)
{
	if (b->seen[row] == share->sample + 1)
		return;
	b->seen[row] = share->sample + 1;
	b->table->rows[row].cum += share->value;
	if (b->evidence)
		jp_evidence_add(&b->evidence[row].cum, &share->evidence);
}

static void count_flat(struct build *b, uint32_t row, const struct share *share)
{
	b->table->rows[row].flat += share->value;
	b->table->flat += share->value;
	if (b->evidence)
		jp_evidence_add(&b->evidence[row].flat, &share->evidence);
}

/* By library: the owner of the stack has it all, everything else on the stack its share of cum. */
static int add_sample_by_owner(struct build *b, const uint32_t *stack, size_t depth, const struct share *share)
{
	uint32_t row = depth ? met(b, jp_row_of_owner(&b->table->names, stack, depth)) : 0;
	if (!depth || row == JP_NONE)
		return depth ? -1 : 0;
	count_flat(b, row, share);
	count_cum(b, row, share);
	for (size_t i = 0; i < depth; i++) {
		row = row_of_object(b, b->profile->locations[stack[i]].object);
		if (row == JP_NONE)
			return -1;
		count_cum(b, row, share);
	}
	return 0;
}

static int add_sample_by_frame(struct build *b, const uint32_t *stack, size_t depth, const struct share *share)
{
	bool innermost = true;
	for (size_t i = 0; i < depth; i++) {
		const struct jp_location *l = &b->profile->locations[stack[i]];
		for (uint32_t f = 0; f < l->frame_count; f++) {
			uint32_t row = row_of_frame(b, l, l->frame_first + f);
			if (row == JP_NONE)
				return -1;
			if (innermost)
				count_flat(b, row, share);
			innermost = false;
			count_cum(b, row, share);
		}
	}
	return 0;
}

static int add_sample(struct build *b, uint32_t id)
{
	const struct jp_sample *sample = &b->profile->samples[id];
	struct share share = { .sample = id, .value = sample->value[b->opts->counter] };
	size_t depth;
	const uint32_t *stack = jp_stack_get(b->profile, sample->stack, &depth);
	if (!jp_in_view(b->profile, b->opts, sample))
		return 0;
	if (b->opts->errors)
		share.evidence = jp_sample_evidence(b->profile, sample, b->opts->counter);
	return b->opts->granularity == JPROF_BY_LIBRARY ? add_sample_by_owner(b, stack, depth, &share)
	                                                : add_sample_by_frame(b, stack, depth, &share);
}

static int by_flat(const void *a, const void *b)
{
	const struct jprof_row *x = a, *y = b;
	if (x->flat != y->flat)
		return x->flat > y->flat ? -1 : 1;
	return strcmp(x->name, y->name);
}

static int by_cum(const void *a, const void *b)
{
	const struct jprof_row *x = a, *y = b;
	if (x->cum != y->cum)
		return x->cum > y->cum ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void finish(struct jprof_table *t, const struct jprof_view_opts *opts)
{
	size_t kept = 0;
	for (size_t i = 0; i < t->count; i++)
		if (t->rows[i].flat != 0 || t->rows[i].cum != 0)
			t->rows[kept++] = t->rows[i];
	t->count = kept;
	if (kept)
		qsort(t->rows, kept, sizeof *t->rows, opts->cum ? by_cum : by_flat);
	if (opts->top && opts->top < t->count)
		t->count = opts->top;
}

static void put_ranges(struct build *b)
{
	for (size_t i = 0; b->evidence && i < b->table->count; i++) {
		struct jprof_row *row = &b->table->rows[i];
		row->flat_range = jp_evidence_range(&b->profile->lineage, &b->evidence[i].flat, b->opts->counter);
		row->cum_range = jp_evidence_range(&b->profile->lineage, &b->evidence[i].cum, b->opts->counter);
	}
}

static int build(struct build *b)
{
	int rc = jp_rows_init(&b->table->names, b->profile, b->opts);
	for (uint32_t i = 0; !rc && i < jp_sample_count(b->profile); i++)
		rc = add_sample(b, i);
	if (rc)
		return rc;
	put_ranges(b);
	finish(b->table, b->opts);
	return 0;
}

int jprof_table_new(const struct jprof_profile *profile, const struct jprof_view_opts *given, struct jprof_table **out,
                    struct jprof_error *err)
{
	struct jprof_view_opts opts;
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	if (rc)
		return rc;
	struct build b = { .profile = profile, .opts = &opts, .table = calloc(1, sizeof *b.table) };
	rc = b.table ? build(&b) : -1;
	free(b.seen);
	free(b.placed);
	free(b.evidence);
	if (rc) {
		jprof_table_free(b.table);
		return jp_error_nomem(err);
	}
	*out = b.table;
	return 0;
}

size_t jprof_table_count(const struct jprof_table *table)
{
	return table->count;
}

const struct jprof_row *jprof_table_at(const struct jprof_table *table, size_t i)
{
	return &table->rows[i];
}

double jprof_table_flat(const struct jprof_table *table)
{
	return table->flat;
}

void jprof_table_free(struct jprof_table *table)
{
	if (!table)
		return;
	jp_rows_release(&table->names);
	free(table->rows);
	free(table);
}
