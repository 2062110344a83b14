#include "model/figures.h"

#include <math.h>
#include <string.h>

void jp_known_add(struct jp_known_sum *to, double bytes)
{
	to->of++;
	to->bytes += bytes;
}

void jp_known_sum_add(struct jp_known_sum *to, const struct jp_known_sum *from)
{
	to->of += from->of;
	to->bytes += from->bytes;
}

double jp_known_bytes(const struct jp_known_sum *known, unsigned processes)
{
	return processes && known->of == processes ? known->bytes : NAN;
}

void jp_figures_add_class(struct jp_figures *to, const struct jp_class_sum *more)
{
	unsigned i = 0;
	while (i < to->class_count && to->classes[i].size != more->size)
		i++;
	if (i == jp_most_classes)
		return;
	if (i == to->class_count)
		to->classes[to->class_count++] = (struct jp_class_sum){ .size = more->size };
	to->classes[i].slabs += more->slabs;
	to->classes[i].occupied += more->occupied;
	to->classes[i].objects += more->objects;
	to->classes[i].live += more->live;
}

void jp_object_sums_add(struct jp_object_sums *to, const struct jp_object_sum *more)
{
	unsigned i = 0;
	while (i < to->count && strcmp(to->of[i].name, more->name) != 0)
		i++;
	if (i == jp_most_object_sums)
		return;
	if (i == to->count) {
		to->of[i] = (struct jp_object_sum){ 0 };
		memcpy(to->of[i].name, more->name, sizeof more->name);
		to->count++;
	}
	to->of[i].count += more->count;
	to->of[i].slots += more->slots;
	to->of[i].own = to->of[i].own || more->own;
}

void jp_referrer_sums_add(struct jp_referrer_sums *to, const struct jp_referrer_sum *more)
{
	unsigned i = 0;
	while (i < to->count && (to->of[i].size != more->size || strcmp(to->of[i].kind, more->kind) != 0 ||
	                         strcmp(to->of[i].name, more->name) != 0))
		i++;
	if (i == jp_most_referrers)
		return;
	if (i == to->count) {
		to->of[i] = *more;
		to->count++;
		return;
	}
	to->of[i].blocks += more->blocks;
	to->of[i].bytes += more->bytes;
	to->of[i].own = to->of[i].own || more->own;
}

static void add_heap_seen(struct jprof_heap_seen *to, const struct jprof_heap_seen *from)
{
	struct jprof_heap_seen all = *from;
	if (!*from->jemalloc && !*from->malloc)
		return;
	all.caches += to->caches;
	all.caches_known = from->caches_known && (to->caches_known || !*to->jemalloc);
	all.arenas += to->arenas;
	all.torn += to->torn;
	all.misfits += to->misfits;
	all.cut = from->cut || to->cut;
	all.core = from->core || to->core;
	all.missing += to->missing;
	all.samples = from->samples || to->samples;
	all.rate = from->rate ? from->rate : to->rate;
	*to = all;
}

void jp_figures_add(struct jp_figures *to, const struct jp_figures *from)
{
	for (int f = 0; f < JPROF_FIGURES; f++)
		jp_known_sum_add(&to->of[f], &from->of[f]);
	for (unsigned i = 0; i < from->class_count; i++)
		jp_figures_add_class(to, &from->classes[i]);
	for (unsigned i = 0; i < from->object_types.count; i++)
		jp_object_sums_add(&to->object_types, &from->object_types.of[i]);
	for (unsigned i = 0; i < from->object_classes.count; i++)
		jp_object_sums_add(&to->object_classes, &from->object_classes.of[i]);
	for (unsigned i = 0; i < from->referrers.count; i++)
		jp_referrer_sums_add(&to->referrers, &from->referrers.of[i]);
	for (unsigned i = 0; i < from->unreachable.count; i++)
		jp_referrer_sums_add(&to->unreachable, &from->unreachable.of[i]);
	to->roots += from->roots;
	jp_known_sum_add(&to->master, &from->master);
	jp_known_sum_add(&to->worker_shared, &from->worker_shared);
	if (from->settings.known)
		to->settings = from->settings;
	if (from->group.known)
		to->group = from->group;
	add_heap_seen(&to->seen, &from->seen);
}
