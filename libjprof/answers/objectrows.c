#include "answers/objectrows.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "model/profile.h"

/* The kind of that name, made when it is new; NULL when memory is short. */
static struct jprof_object_change *object_change(struct jprof_series *s, const char *name, bool type)
{
	for (size_t i = 0; i < s->object_count; i++)
		if (s->objects[i].is_class != type && !strcmp(s->objects[i].name, name))
			return &s->objects[i];
	if (jp_array_push(s->objects, s->object_count, s->object_cap))
		return NULL;
	struct jprof_object_change *made = &s->objects[s->object_count];
	*made = (struct jprof_object_change){ .name = jp_arena_dup(&s->arena, name, strlen(name)), .is_class = !type };
	s->object_count += made->name != NULL;
	return made->name ? made : NULL;
}

static int add_object_sums(struct jprof_series *s, const struct jp_object_sums *sums, bool type, int side)
{
	for (unsigned i = 0; i < sums->count; i++) {
		struct jprof_object_change *c = object_change(s, sums->of[i].name, type);
		if (!c)
			return -1;
		c->bytes[side] += sums->of[i].slots;
		c->count[side] += sums->of[i].count;
	}
	return 0;
}

/* Types before classes, of each what grew most first. */
static int order_of_objects(const void *a, const void *b)
{
	const struct jprof_object_change *x = a, *y = b;
	double m = x->bytes[1] - x->bytes[0], n = y->bytes[1] - y->bytes[0];
	if (x->is_class != y->is_class)
		return x->is_class ? 1 : -1;
	return m != n ? (m < n) - (m > n) : strcmp(x->name, y->name);
}

int jp_series_count_objects(struct jprof_series *s, const struct jprof_profile *whole)
{
	const struct jp_figures *sides[] = { &whole->outside.base.figures, &whole->outside.now.figures };
	if (!sides[0]->object_types.count || !sides[1]->object_types.count)
		return 0;
	for (int i = 0; i < 2; i++)
		if (add_object_sums(s, &sides[i]->object_types, true, i) ||
		    add_object_sums(s, &sides[i]->object_classes, false, i))
			return -1;
	qsort(s->objects, s->object_count, sizeof *s->objects, order_of_objects);
	return 0;
}

size_t jprof_series_objects(const struct jprof_series *series)
{
	return series ? series->object_count : 0;
}

const struct jprof_object_change *jprof_series_object(const struct jprof_series *series, size_t i)
{
	return series && i < series->object_count ? &series->objects[i] : NULL;
}
