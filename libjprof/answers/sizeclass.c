#include "answers/sizeclass.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/search.h"
#include "base/strbuf.h"
#include "model/profile.h"
#include "view/walk.h"

static int by_size(const void *a, const void *b)
{
	uint64_t x = ((const struct jp_class_sum *)a)->size, y = ((const struct jp_class_sum *)b)->size;
	return jp_order(x, y);
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

/* What the samples know of the classes: bytes by class and owner, a row of the view. */
struct tenancy {
	struct jp_class_sum classes[jp_most_classes]; /* ascending */
	unsigned count;
	uint32_t owners;
	double *bytes;   /* in use: [class * owners + owner] */
	double *freed;   /* likewise; all 0 where it is not known */
	double *samples; /* in use, by class */
	double *unused;  /* by owner: free places that are known to be of it */
};

static const double most_doubt = 0.02; /* how far a mean may be above its class: jemalloc 5.3 rounds what it unbiases */
static const double least_tenant = 0.005; /* of what has a share that rounds to 0 % nothing is said */
static const double enough_samples = 10;  /* to say that all are of one owner */

/* The class that objects of a mean size are in; the count of classes where there is none. */
static unsigned class_of(const struct tenancy *t, double mean)
{
	unsigned i = 0;
	while (i < t->count && (double)t->classes[i].size < mean * (1 - most_doubt))
		i++;
	return i;
}

static void count_in_class(struct tenancy *t, const struct jprof_view *v, uint32_t stack, uint32_t owner)
{
	double bytes = jp_stack_number(v, stack, JPROF_INUSE_SPACE);
	double objects = jp_stack_number(v, stack, JPROF_INUSE_OBJECTS);
	double ever = jp_stack_number(v, stack, JPROF_ALLOC_SPACE);
	double made = jp_stack_number(v, stack, JPROF_ALLOC_OBJECTS);
	unsigned class = objects > 0 ? class_of(t, bytes / objects) : t->count;
	if (class < t->count && bytes > 0) {
		t->bytes[class * t->owners + owner] += bytes;
		t->samples[class] += v->evidence ? v->evidence[stack].plus.n : 0;
	}
	class = made > 0 ? class_of(t, ever / made) : t->count;
	if (class < t->count && ever > bytes)
		t->freed[class * t->owners + owner] += ever - bytes;
}

/* 0, or -1 when memory is short; to be released in either case. */
static int survey(struct tenancy *t, const struct jp_figures *figures, const struct jprof_view *v)
{
	struct jp_walk walk;
	t->count = figures->class_count;
	t->owners = v->row_count;
	memcpy(t->classes, figures->classes, sizeof t->classes);
	qsort(t->classes, t->count, sizeof *t->classes, by_size);
	t->bytes = calloc((size_t)t->count * t->owners + 1, sizeof *t->bytes);
	t->freed = calloc((size_t)t->count * t->owners + 1, sizeof *t->freed);
	t->samples = calloc(t->count + 1, sizeof *t->samples);
	t->unused = calloc(t->owners + 1, sizeof *t->unused);
	int rc = t->bytes && t->freed && t->samples && t->unused ? 0 : -1;
	rc = jp_walk_init(&walk, v) ? -1 : rc;
	for (uint32_t i = 0; !rc && i < v->stack_count; i++) {
		size_t length;
		jp_walk_rows(&walk, i);
		const uint32_t *path = jp_walk_path(&walk, &length);
		if (length && path[0] < t->owners)
			count_in_class(t, v, i, path[0]);
	}
	jp_walk_release(&walk);
	return rc;
}

static void release_tenancy(struct tenancy *t)
{
	free(t->bytes);
	free(t->freed);
	free(t->samples);
	free(t->unused);
}

/* The owner that has most of `of`, after `last` in descending order, of equal ones in their own; the first of all after
 * JP_NONE. JP_NONE where there is none. */
static uint32_t next_largest(const double *of, uint32_t count, uint32_t last)
{
	uint32_t best = JP_NONE;
	for (uint32_t i = 0; i < count; i++) {
		bool after = last == JP_NONE || of[i] < of[last] || (of[i] == of[last] && i > last);
		if (after && of[i] > 0 && (best == JP_NONE || of[i] > of[best]))
			best = i;
	}
	return best;
}

static double sum_of_owners(const double *of, uint32_t count)
{
	double sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += of[i];
	return sum;
}

/* The owner that all sampled objects of a class are of; JP_NONE: of several, or too few to say so. */
static uint32_t sole_tenant(const struct tenancy *t, unsigned class)
{
	const double *of = t->bytes + (size_t) class * t->owners;
	uint32_t first = next_largest(of, t->owners, JP_NONE);
	bool alone = first != JP_NONE && next_largest(of, t->owners, first) == JP_NONE;
	return alone && t->samples[class] >= enough_samples ? first : JP_NONE;
}

/* Whose free places of a class are. */
static void share_out(struct tenancy *t, unsigned class, double unused)
{
	const double *freed = t->freed + (size_t) class * t->owners;
	double all = sum_of_owners(freed, t->owners);
	uint32_t sole = sole_tenant(t, class);
	for (uint32_t i = 0; all > 0 && i < t->owners; i++)
		t->unused[i] += unused * freed[i] / all;
	if (!(all > 0) && sole != JP_NONE)
		t->unused[sole] += unused;
}

/* Without the kind, which groups have before their name. */
static const char *short_owner(const struct jprof_view *v, uint32_t owner)
{
	const char *name = v->rows[owner].name;
	const char *in_kind = v->info.granularity == JPROF_BY_GROUP ? strstr(name, ": ") : NULL;
	return in_kind ? in_kind + 2 : name;
}

static const char *name_of_owner(struct jprof_explanation *e, const struct jprof_view *v, uint32_t owner)
{
	const char *name = short_owner(v, owner);
	return jp_arena_dup(&e->arena, name, strlen(name));
}

/* The owners whose objects lie in a class, and the one that all are of, where there are samples enough to say so. */
static int name_tenants(struct jprof_explanation *e, struct jprof_explained *row, const struct tenancy *t,
                        unsigned class, const struct jprof_view *v)
{
	enum { most_named = 3 };
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	const double *of = t->bytes + (size_t) class * t->owners;
	double all = sum_of_owners(of, t->owners);
	uint32_t owner = JP_NONE, sole = sole_tenant(t, class);
	for (int i = 0; i < most_named && (owner = next_largest(of, t->owners, owner)) != JP_NONE; i++)
		if (of[owner] >= least_tenant * all)
			jp_strbuf_printf(&text, "%s%s %.0f %%", i ? ", " : "", short_owner(v, owner),
			                 of[owner] * 100 / all);
	if (sole != JP_NONE && !(row->name = name_of_owner(e, v, sole)))
		return -1;
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

static int add_owners_of_free(struct jprof_explanation *e, const struct tenancy *t, const struct jprof_view *v)
{
	enum { most_owners = 20 };
	uint32_t owner = JP_NONE;
	for (int i = 0; i < most_owners && (owner = next_largest(t->unused, t->owners, owner)) != JP_NONE; i++) {
		struct jprof_explained *row =
		    jp_explain_row(e, JPROF_PART_FREE_OWNER, 1, (struct jp_figure_pair){ t->unused[owner], NAN });
		if (!row || !(row->name = name_of_owner(e, v, owner)))
			return -1;
	}
	return 0;
}

int jp_explain_size_classes(struct jprof_explanation *e, const struct jprof_profile *now,
                            const struct jprof_profile *change, const struct jprof_view *places,
                            struct jprof_error *err)
{
	struct jp_class_sum classes[jp_most_classes];
	struct tenancy tenancy = { 0 };
	const struct jp_figures *figures = &now->outside.now.figures;
	int rc = survey(&tenancy, figures, places);
	memcpy(classes, figures->classes, sizeof classes);
	qsort(classes, figures->class_count, sizeof *classes, by_free_bytes);
	for (unsigned i = 0; !rc && i < figures->class_count && free_bytes(&classes[i]) > 0; i++) {
		double unused = free_bytes(&classes[i]);
		unsigned class = class_of(&tenancy, (double)classes[i].size);
		struct jprof_explained *row =
		    jp_explain_row(e, JPROF_PART_SIZE_CLASS, 1,
		                   (struct jp_figure_pair){ unused, unused - free_before(change, classes[i].size) });
		if (row)
			row->object_size = classes[i].size;
		rc = row ? name_tenants(e, row, &tenancy, class, places) : -1;
		share_out(&tenancy, class, unused);
	}
	rc = rc ? rc : add_owners_of_free(e, &tenancy, places);
	release_tenancy(&tenancy);
	return rc ? jp_error_nomem(err) : 0;
}

/* ---- live objects ---------------------------------------------------------------------------------------------- */

static int by_live_bytes(const void *a, const void *b)
{
	double x = ((const struct jp_class_sum *)a)->live, y = ((const struct jp_class_sum *)b)->live;
	return x != y ? (x < y) - (x > y) : by_size(a, b);
}

/* The objects of that size in the earlier snapshot: none where it has no such class. */
static struct jp_class_sum live_before(const struct jp_figures *before, uint64_t size)
{
	static const struct jp_class_sum none;
	for (unsigned i = 0; i < before->class_count; i++)
		if (before->classes[i].size == size)
			return before->classes[i];
	return none;
}

/* `before` is NULL where there is no earlier snapshot, or its objects were not counted. */
static int add_live_size(struct jprof_explanation *e, const struct jp_class_sum *class, const struct jp_figures *before)
{
	char name[64];
	struct jp_class_sum was = before ? live_before(before, class->size) : *class;
	int len = snprintf(name, sizeof name, "%llu bytes", (unsigned long long)class->size);
	struct jp_figure_pair bytes = { class->live, before ? class->live - was.live : NAN };
	struct jprof_explained *row = jp_explain_row(e, JPROF_PART_GROUP, 2, bytes);
	if (!row || !(row->name = jp_arena_dup(&e->arena, name, (size_t)len)))
		return -1;
	row->object_size = class->size;
	row->objects = class->objects;
	row->objects_growth = before ? class->objects - was.objects : NAN;
	return 0;
}

/* All of them together. */
static struct jp_class_sum live_sum(const struct jp_figures *figures)
{
	struct jp_class_sum all = { 0 };
	for (unsigned i = 0; i < figures->class_count; i++) {
		all.live += figures->classes[i].live;
		all.objects += figures->classes[i].objects;
	}
	return all;
}

int jp_explain_live_sizes(struct jprof_explanation *e, const struct jprof_profile *now,
                          const struct jprof_profile *change)
{
	struct jp_class_sum classes[jp_most_classes];
	const struct jp_figures *figures = &now->outside.now.figures,
				*before = change ? &change->outside.base.figures : NULL;
	struct jp_class_sum all = live_sum(figures), was = before ? live_sum(before) : all;
	size_t above = e->count;
	before = was.objects > 0 ? before : NULL;
	memcpy(classes, figures->classes, sizeof classes);
	qsort(classes, figures->class_count, sizeof *classes, by_live_bytes);
	if (!(all.objects > 0) || !above)
		return 0;
	double more = before ? all.objects - was.objects : NAN;
	e->rows[above - 1].objects = all.objects;
	e->rows[above - 1].objects_growth = more;
	struct jprof_explained *kind = jp_explain_row(
	    e, JPROF_PART_KIND, 1, (struct jp_figure_pair){ all.live, before ? all.live - was.live : NAN });
	if (!kind)
		return -1;
	kind->name = "by size";
	kind->objects = all.objects;
	kind->objects_growth = more;
	int failed = 0;
	for (unsigned i = 0; !failed && i < figures->class_count && classes[i].objects > 0; i++)
		failed = add_live_size(e, &classes[i], before);
	return failed;
}
