#include "answers/pointedto.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/profile.h"

static int own_before_larger(const void *a, const void *b)
{
	const struct jp_referrer_sum *x = a, *y = b;
	if (x->own != y->own)
		return x->own ? -1 : 1;
	return x->bytes != y->bytes ? (x->bytes < y->bytes) - (x->bytes > y->bytes) : strcmp(x->name, y->name);
}

/* What there was of it before; none where it is not named: then it was little. */
static struct jp_referrer_sum referrer_before(const struct jp_referrer_sums *before, const struct jp_referrer_sum *of)
{
	static const struct jp_referrer_sum none;
	for (unsigned i = 0; i < before->count; i++)
		if (!strcmp(before->of[i].kind, of->kind) && !strcmp(before->of[i].name, of->name))
			return before->of[i];
	return none;
}

/* All of a kind. */
static struct jp_referrer_sum sum_of_kind(const struct jp_referrer_sums *sums, const char *kind)
{
	struct jp_referrer_sum all = { .kind = kind };
	for (unsigned i = 0; i < sums->count; i++)
		if (!strcmp(sums->of[i].kind, kind)) {
			all.bytes += sums->of[i].bytes;
			all.blocks += sums->of[i].blocks;
		}
	return all;
}

/* `was` is NULL where nothing was looked for before. */
static int add_referrer_row(struct jprof_explanation *e, enum jprof_part part, const char *name,
                            const struct jp_referrer_sum *sum, const struct jp_referrer_sum *was)
{
	struct jp_figure_pair bytes = { sum->bytes, was ? sum->bytes - was->bytes : NAN };
	struct jprof_explained *row = jp_explain_row(e, part, part == JPROF_PART_KIND ? 1 : 2, bytes);
	if (!row || !(row->name = jp_arena_dup(&e->arena, name, strlen(name))))
		return -1;
	row->objects = sum->blocks;
	row->objects_growth = was ? sum->blocks - was->blocks : NAN;
	return 0;
}

static int add_kind_of_referrers(struct jprof_explanation *e, const struct jp_referrer_sums *sums,
                                 const struct jp_referrer_sums *before, const char *kind)
{
	struct jp_referrer_sum all = sum_of_kind(sums, kind), was = before ? sum_of_kind(before, kind) : all;
	if (add_referrer_row(e, JPROF_PART_KIND, kind, &all, before ? &was : NULL))
		return -1;
	/* One that is all of its kind needs no row of its own. */
	for (unsigned i = 0; i < sums->count; i++) {
		const struct jp_referrer_sum *one = &sums->of[i];
		if (strcmp(one->kind, kind) != 0 || one->blocks == all.blocks)
			continue;
		was = referrer_before(before ? before : sums, one);
		const char *name = *one->name ? one->name : "others";
		if (add_referrer_row(e, JPROF_PART_GROUP, name, one, before ? &was : NULL))
			return -1;
	}
	return 0;
}

int jp_explain_referrers(struct jprof_explanation *e, const struct jprof_profile *now,
                         const struct jprof_profile *change)
{
	struct jp_referrer_sums sums = now->outside.now.figures.referrers;
	const struct jp_referrer_sums *before = change ? &change->outside.base.figures.referrers : NULL;
	const char *last = "";
	before = before && before->count ? before : NULL;
	qsort(sums.of, sums.count, sizeof *sums.of, own_before_larger);
	if (!sums.count || !e->count)
		return 0;
	struct jprof_explained *live = &e->rows[e->count - 1];
	if (live->part == JPROF_PART_LIVE)
		live->objects = 0; /* other memory has more than these */
	for (unsigned i = 0; i < sums.count; i++)
		live->objects += sums.of[i].blocks;
	/* Kinds by descending bytes. */
	for (double limit = INFINITY; *last || isinf(limit);) {
		struct jp_referrer_sum best = { .kind = "", .bytes = -1 };
		for (unsigned i = 0; i < sums.count; i++) {
			struct jp_referrer_sum all = sum_of_kind(&sums, sums.of[i].kind);
			bool after = all.bytes < limit || (all.bytes == limit && strcmp(all.kind, last) > 0);
			if (after &&
			    (all.bytes > best.bytes || (all.bytes == best.bytes && strcmp(all.kind, best.kind) < 0)))
				best = all;
		}
		last = best.kind;
		limit = best.bytes;
		if (*last && add_kind_of_referrers(e, &sums, before, last))
			return -1;
	}
	return 1;
}

static int add_lost_row(struct jprof_explanation *e, const struct jp_referrer_sum *sum)
{
	struct jp_figure_pair bytes = { sum->bytes, NAN };
	char name[sizeof sum->name + 32];
	struct jprof_explained *row = jp_explain_row(e, JPROF_PART_LOST, 2, bytes);
	int len = snprintf(name, sizeof name, *sum->name ? "%s %s" : "%s%s", sum->kind, sum->name);
	if (!row || !(row->name = jp_arena_dup(&e->arena, name, (size_t)len)))
		return -1;
	row->object_size = sum->size;
	row->objects = sum->blocks;
	return 0;
}

/* The size of the blocks that have most of the bytes; 0: those of no size have. */
static uint64_t size_of_most(const struct jp_referrer_sums *sums, double bytes)
{
	for (unsigned i = 0; i < sums->count; i++) {
		double same = 0;
		for (unsigned k = 0; k < sums->count; k++)
			same += sums->of[k].size == sums->of[i].size ? sums->of[k].bytes : 0;
		if (same * 2 > bytes)
			return sums->of[i].size;
	}
	return 0;
}

int jp_explain_unreachable(struct jprof_explanation *e, const struct jprof_profile *now, bool details)
{
	struct jp_referrer_sums sums = now->outside.now.figures.unreachable;
	double all = jprof_profile_figure(now, false, JPROF_FIGURE_UNREACHABLE);
	if (isnan(all))
		return 0;
	struct jprof_explained *row = jp_explain_row(e, JPROF_PART_UNREACHABLE, 1, (struct jp_figure_pair){ all, NAN });
	if (!row)
		return -1;
	row->objects = 0;
	row->object_size = size_of_most(&sums, all);
	for (unsigned i = 0; i < sums.count; i++)
		row->objects += sums.of[i].blocks;
	qsort(sums.of, sums.count, sizeof *sums.of, own_before_larger);
	for (unsigned i = 0; details && i < sums.count; i++)
		if (add_lost_row(e, &sums.of[i]))
			return -1;
	return 0;
}
