#include "model/slotsamples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "input/rubytypes.h"

static const char slot_object[] = "[ruby heap]";

bool jp_is_slot_object(const char *path)
{
	return !strcmp(path, slot_object);
}

bool jp_is_slot_stack(const struct jprof_profile *profile, uint32_t stack)
{
	size_t depth;
	const uint32_t *places = jp_stack_get(profile, stack, &depth);
	if (!depth)
		return false;
	const struct jp_object *object = &profile->objects[profile->locations[places[0]].object];
	return object->kind == JP_MAP_SPECIAL && jp_is_slot_object(jp_string(profile, object->path));
}

bool jp_is_of_heap(const struct jprof_profile *profile, uint32_t stack, enum jprof_heap heap)
{
	return heap == JPROF_HEAP_ALL || jp_is_slot_stack(profile, stack) == (heap == JPROF_HEAP_SLOTS);
}

/* ---- places ------------------------------------------------------------------------------------------------ */

/* What the work on one table needs. */
struct slot_load {
	struct jp_ruby_load *ruby;
	uint32_t object; /* the pseudo object */
	uint32_t *stack; /* the one under way, innermost first */
	size_t cap;
};

const char *jp_slot_class(const struct jp_rubytable *table, const struct jp_rubyslot *slot)
{
	const char *known = jp_rubytable_text(table, slot->class), *type = jp_ruby_type_name(slot->type);
	return *known ? known : type ? type : "Nameless";
}

static uint32_t place_of_slot(struct slot_load *w, const struct jp_rubyslot *slot)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) name = { 0 };
	const char *class = jp_slot_class(w->ruby->table, slot);
	jp_strbuf_printf(&name, "%s object", class);
	struct jprof_profile *p = w->ruby->profile;
	struct jp_checksum place = jp_checksum_none();
	jp_checksum_add(&place, class, strlen(class));
	uint32_t function = name.failed ? JP_NONE : jp_function_named(p, name.text, name.text, class, NULL);
	const struct jp_frame frame = { function, 0, false };
	return function == JP_NONE ? JP_NONE
	                           : jp_location_named(p, w->object, place.fnv, 0, &frame, 1, JPROF_SOURCE_INPUT);
}

/* The stack of a sample in w->stack; its depth, 0 when memory is short. */
static size_t stack_of_slot(struct slot_load *w, const struct jp_rubyslot *slot)
{
	size_t ruby = slot->frame == JP_NONE ? 0 : w->ruby->table->frames[slot->frame].depth;
	if (jp_array_reserve(&w->stack, &w->cap, ruby + 1, sizeof *w->stack))
		return 0;
	w->stack[0] = place_of_slot(w, slot);
	w->ruby->found += slot->frame != JP_NONE;
	return w->stack[0] == JP_NONE || jp_ruby_frames(w->ruby, slot->frame, w->stack + 1) ? 0 : ruby + 1;
}

/* ---- samples ----------------------------------------------------------------------------------------------- */

/* One sampled object stands for 1 / p: docs/internals/statistics.md. */
static struct jp_values values_of_slot(const struct jp_rubytable *t, const struct jp_rubyslot *slot)
{
	double bytes = jp_rubytable_slot_bytes(t, slot), p = slot->slot / bytes;
	const double worth[2] = { 1 / p, bytes };
	struct jp_values v = { .plus = { .n = { 1, 0 } } };
	for (int i = 0; i < 2; i++) {
		enum jprof_counter c = i ? JPROF_INUSE_SPACE : JPROF_INUSE_OBJECTS;
		v.value[c] = worth[i];
		v.plus.variance[c] = worth[i] * worth[i] * (1 - p);
		v.plus.worth[c] = (float)worth[i];
		v.plus.open[c] = (float)(1 - p);
	}
	return v;
}

static int add_slot(struct slot_load *w, const struct jp_rubyslot *slot, uint32_t worker)
{
	struct jp_values values = values_of_slot(w->ruby->table, slot);
	struct jp_label label = { .thread = JP_NONE, .worker = worker };
	size_t depth = stack_of_slot(w, slot);
	if (!depth || jp_ruby_label(w->ruby, slot->epoch, slot->tag, &label))
		return -1;
	return jp_sample_add(w->ruby->profile, w->stack, depth, label, &values, 1);
}

int jp_slot_samples_add(struct jp_ruby_load *ruby, uint32_t worker)
{
	struct jprof_profile *p = ruby->profile;
	struct jp_object like = { .kind = JP_MAP_SPECIAL, .path = jp_intern_str(&p->strings, slot_object) };
	struct slot_load w = { .ruby = ruby, .object = like.path == JP_NONE ? JP_NONE : jp_object_id(p, &like) };
	int rc = w.object == JP_NONE ? -1 : 0;
	for (size_t i = 0; !rc && i < ruby->table->slot_count; i++)
		rc = add_slot(&w, &ruby->table->slots[i], worker);
	free(w.stack);
	return rc;
}

double jprof_profile_heap_total(const struct jprof_profile *p, enum jprof_heap heap, enum jprof_counter counter,
                                bool base)
{
	double sum = 0;
	if (!p || !jp_is_counter(counter) || (base && !p->lineage.subtracted))
		return NAN;
	for (uint32_t i = 0; i < jp_sample_count(p); i++) {
		struct jp_values v = jp_sample_values(&p->samples, &p->samples.items[i]);
		if (jp_is_of_heap(p, p->samples.items[i].stack, heap))
			sum += base ? jp_values_less(&v)->base[counter] : v.value[counter];
	}
	return sum;
}

void jp_slot_samples_drop(struct jprof_profile *p)
{
	for (uint32_t i = 0; i < jp_sample_count(p); i++) {
		const struct jp_sample *s = &p->samples.items[i];
		if (s->sum != JP_NONE && jp_is_slot_stack(p, s->stack))
			p->samples.sums[s->sum] = (struct jp_values){ 0 };
	}
	p->info.has_slots = false;
}
