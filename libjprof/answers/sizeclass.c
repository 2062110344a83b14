#include "answers/sizeclass.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "model/profile.h"
#include "view/view.h"

static int by_size(const void *a, const void *b)
{
	uint64_t x = ((const struct jp_class_sum *)a)->size, y = ((const struct jp_class_sum *)b)->size;
	return (x > y) - (x < y);
}

static double free_bytes(const struct jp_class_sum *c)
{
	return c->slabs > c->occupied ? c->slabs - c->occupied : 0;
}

static int by_free_bytes(const void *a, const void *b)
{
	double x = free_bytes(a), y = free_bytes(b);
	return x != y ? (x < y) - (x > y) : by_size(a, b);
}

/* What the samples know of the classes: bytes by class and group. */
struct tenancy {
	struct jp_class_sum classes[jp_most_classes]; /* ascending */
	unsigned count;
	uint32_t groups;
	double *bytes;   /* [class * groups + group] */
	double *samples; /* by class */
};

static const double most_doubt = 0.5; /* bytes: how far a mean may be from the size of its class */

/* The class that objects of a mean size are in; the count of classes where there is none. */
static unsigned class_of(const struct tenancy *t, double mean)
{
	unsigned i = 0;
	while (i < t->count && (double)t->classes[i].size < mean - most_doubt)
		i++;
	return i;
}

static void count_in_class(struct tenancy *t, const struct jprof_view *v, uint32_t stack)
{
	double bytes = jp_stack_number(v, stack, JPROF_INUSE_SPACE);
	double objects = jp_stack_number(v, stack, JPROF_INUSE_OBJECTS);
	if (!(bytes > 0) || !(objects > 0) || !v->paths[stack].length)
		return;
	unsigned class = class_of(t, bytes / objects);
	if (class == t->count)
		return;
	t->bytes[class * t->groups + v->paths[stack].rows[0]] += bytes;
	t->samples[class] += v->evidence ? v->evidence[stack].plus.n : 0;
}

/* 0, or -1 when memory is short; to be released in either case. */
static int survey(struct tenancy *t, const struct jp_figures *figures, const struct jprof_view *v)
{
	t->count = figures->class_count;
	t->groups = v->row_count;
	memcpy(t->classes, figures->classes, sizeof t->classes);
	qsort(t->classes, t->count, sizeof *t->classes, by_size);
	t->bytes = calloc((size_t)t->count * t->groups + 1, sizeof *t->bytes);
	t->samples = calloc(t->count + 1, sizeof *t->samples);
	for (uint32_t i = 0; t->bytes && t->samples && i < v->stack_count; i++)
		count_in_class(t, v, i);
	return t->bytes && t->samples ? 0 : -1;
}

static void release_tenancy(struct tenancy *t)
{
	free(t->bytes);
	free(t->samples);
}

/* Takes the group with the most bytes out of a class; JP_NONE where there is none. */
static uint32_t take_largest(const struct tenancy *t, unsigned class, double *bytes)
{
	double *of = t->bytes + (size_t) class * t->groups;
	uint32_t best = JP_NONE;
	for (uint32_t g = 0; g < t->groups; g++)
		if (of[g] > (best == JP_NONE ? 0 : of[best]))
			best = g;
	*bytes = best == JP_NONE ? 0 : of[best];
	if (best != JP_NONE)
		of[best] = 0;
	return best;
}

static double class_bytes(const struct tenancy *t, unsigned class)
{
	double sum = 0;
	for (uint32_t g = 0; g < t->groups; g++)
		sum += t->bytes[(size_t) class * t->groups + g];
	return sum;
}

/* The groups whose objects lie in a class, and the one that all are of, where there are samples enough to say so. */
static int name_tenants(struct jprof_explanation *e, struct jprof_explained *row, const struct tenancy *t,
                        const struct jprof_view *v)
{
	enum { most_named = 3 };
	static const double enough = 10;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	unsigned class = class_of(t, (double)row->object_size);
	double all = class_bytes(t, class), bytes;
	for (int i = 0; i < most_named; i++) {
		uint32_t group = take_largest(t, class, &bytes);
		if (group == JP_NONE)
			break;
		const char *name = v->rows[group].name, *in_kind = strstr(name, ": ");
		name = in_kind ? in_kind + 2 : name;
		jp_strbuf_printf(&text, "%s%s %.0f %%", i ? ", " : "", name, bytes * 100 / all);
		if (!i && bytes == all && t->samples[class] >= enough &&
		    !(row->name = jp_arena_dup(&e->arena, name, strlen(name))))
			return -1;
	}
	row->tenants = text.failed ? NULL : jp_arena_dup(&e->arena, text.text ? text.text : "", text.len);
	return row->tenants ? 0 : -1;
}

static double free_before(const struct jprof_profile *change, uint64_t size)
{
	const struct jp_figures *f = change ? &change->outside.base.figures : NULL;
	if (!f || !f->class_count)
		return NAN;
	for (unsigned i = 0; i < f->class_count; i++)
		if (f->classes[i].size == size)
			return free_bytes(&f->classes[i]);
	return 0;
}

int jp_explain_size_classes(struct jprof_explanation *e, const struct jprof_profile *now,
                            const struct jprof_profile *change, const struct jprof_view *groups,
                            struct jprof_error *err)
{
	struct jp_class_sum classes[jp_most_classes];
	struct tenancy tenancy;
	const struct jp_figures *figures = &now->outside.now.figures;
	int rc = survey(&tenancy, figures, groups);
	memcpy(classes, figures->classes, sizeof classes);
	qsort(classes, figures->class_count, sizeof *classes, by_free_bytes);
	for (unsigned i = 0; !rc && i < figures->class_count && free_bytes(&classes[i]) > 0; i++) {
		double unused = free_bytes(&classes[i]);
		struct jprof_explained *row =
		    jp_explain_row(e, JPROF_PART_SIZE_CLASS, 1,
		                   (struct jp_figure_pair){ unused, unused - free_before(change, classes[i].size) });
		if (row)
			row->object_size = classes[i].size;
		rc = row ? name_tenants(e, row, &tenancy, groups) : -1;
	}
	release_tenancy(&tenancy);
	return rc ? jp_error_nomem(err) : 0;
}
