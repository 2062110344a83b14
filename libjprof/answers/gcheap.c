#include "answers/gcheap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "model/profile.h"

static int more_slots_first(const void *a, const void *b)
{
	const struct jp_object_sum *x = a, *y = b;
	return x->slots != y->slots ? (x->slots < y->slots) - (x->slots > y->slots) : strcmp(x->name, y->name);
}

/* What there was of a kind before; none where it is not named: then it was little. */
static struct jp_object_sum kind_before(const struct jp_object_sums *before, const char *name)
{
	static const struct jp_object_sum none;
	for (unsigned i = 0; i < before->count; i++)
		if (!strcmp(before->of[i].name, name))
			return before->of[i];
	return none;
}

/* `before` is NULL where there is no earlier snapshot, or nothing was counted in it. */
static int add_kinds_of_objects(struct jprof_explanation *e, const struct jp_object_sums *now,
                                const struct jp_object_sums *before, enum jprof_part part)
{
	struct jp_object_sums sorted = *now;
	qsort(sorted.of, sorted.count, sizeof *sorted.of, more_slots_first);
	for (unsigned i = 0; i < sorted.count; i++) {
		const struct jp_object_sum *kind = &sorted.of[i];
		struct jp_object_sum was = kind_before(before ? before : now, kind->name);
		struct jp_figure_pair slots = { kind->slots, before ? kind->slots - was.slots : NAN };
		struct jprof_explained *row = jp_explain_row(e, part, 1, slots);
		if (!row || !(row->name = jp_arena_dup(&e->arena, kind->name, strlen(kind->name))))
			return -1;
		row->objects = kind->count;
		row->own = kind->own;
		row->objects_growth = before ? kind->count - was.count : NAN;
	}
	return 0;
}

double jp_counted_slots(const struct jprof_profile *p, bool base)
{
	const struct jp_object_sums *types =
	    base ? &p->outside.base.figures.object_types : &p->outside.now.figures.object_types;
	double sum = 0;
	for (unsigned i = 0; i < types->count; i++)
		sum += types->of[i].slots;
	return types->count ? sum : NAN;
}

int jp_explain_objects(struct jprof_explanation *e, const struct jprof_profile *now, const struct jprof_profile *change)
{
	const struct jp_figures *is = &now->outside.now.figures;
	const struct jp_figures *was =
	    change && change->outside.base.figures.object_types.count ? &change->outside.base.figures : NULL;
	return add_kinds_of_objects(e, &is->object_types, was ? &was->object_types : NULL, JPROF_PART_OBJECT_TYPE) ||
	               add_kinds_of_objects(e, &is->object_classes, was ? &was->object_classes : NULL,
	                                    JPROF_PART_OBJECT_CLASS)
	           ? -1
	           : 0;
}
