/* Sums and differences: the stacks of one profile are matched with those of another by object and offset. */
#include "ops/merge.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "model/code.h"
#include "model/fileproof.h"
#include "model/identity.h"
#include "model/movedsamples.h"
#include "model/pairs.h"
#include "model/slotsamples.h"
#include "statistics/related.h"

/* What the other profile's ids are in this one. */
struct translation {
	uint32_t *object;
	uint32_t *location;
	uint32_t *sample;
	uint32_t *moved_back; /* where what a collection moved is to have no line: movedsamples.h */
	uint32_t moved_count;
	struct jp_epochs_join epochs;
	size_t common; /* samples of stacks that both have */
	bool related;
	bool replaced; /* but of different processes: what they share was inherited */
	bool unlike;   /* of different programs, by the maps */
};

/* Offsets in two builds of a file have nothing to do with each other. */
static int note_builds(struct jprof_profile *to, uint32_t path, uint32_t before)
{
	if (jp_object_count(to) == before)
		return 0;
	for (uint32_t i = 0; i < before; i++)
		if (to->objects[i].path == path && to->objects[i].build_id != JP_NONE)
			return jp_note(to, "%s: the profiles have two builds of it; they are compared by function name",
			               jp_string(to, path));
	return 0;
}

static int translate_objects(struct jprof_profile *to, const struct jprof_profile *from, uint32_t *object)
{
	for (uint32_t i = 0; i < jp_object_count(from); i++) {
		struct jp_object like = from->objects[i];
		bool built = like.build_id != JP_NONE;
		uint32_t before = jp_object_count(to);
		like.path = jp_intern_str(&to->strings, jp_string(from, like.path));
		uint32_t build_id = built ? jp_intern_str(&to->strings, jp_string(from, like.build_id)) : JP_NONE;
		if (like.path == JP_NONE || (built && build_id == JP_NONE))
			return -1;
		object[i] = jp_object_built(to, &like, build_id);
		if (object[i] != JP_NONE && from->objects[i].bundled &&
		    jp_object_bundled(to, object[i], from, &from->objects[i]))
			return -1;
		if (object[i] != JP_NONE && jp_fileproof_merge(to, object[i], from, &from->objects[i]))
			return -1;
		if (object[i] == JP_NONE || (built && note_builds(to, like.path, before)))
			return -1;
	}
	return 0;
}

static uint32_t translate_function(struct jprof_profile *to, const struct jprof_profile *from, uint32_t function)
{
	const struct jp_function *f = &from->functions[function];
	const char *file = f->file == JP_NONE ? NULL : jp_string(from, f->file);
	return jp_function_named(to, jp_string(from, f->name), jp_string(from, f->brief), jp_string(from, f->system),
	                         file);
}

static struct jp_frame *translate_frames(struct jprof_profile *to, const struct jprof_profile *from,
                                         const struct jp_location *l)
{
	struct jp_frame *frames = calloc((size_t)l->frame_count + 1, sizeof *frames);
	for (uint32_t i = 0; frames && i < l->frame_count; i++) {
		frames[i] = from->frames[l->frame_first + i];
		frames[i].function = translate_function(to, from, frames[i].function);
		if (frames[i].function == JP_NONE) {
			free(frames);
			return NULL;
		}
	}
	return frames;
}

/* Names that came with the input are part of it; those of a bundle are what symbolizing would find. */
static uint32_t translate_named(struct jprof_profile *to, const struct jprof_profile *from, uint32_t object, uint32_t i)
{
	const struct jp_location *l = &from->locations[i];
	struct jp_frame *frames = translate_frames(to, from, l);
	uint32_t id = JP_NONE;
	if (frames && l->given)
		id = jp_location_named(to, object, l->offset, l->address, frames, l->frame_count, l->source);
	else if (frames)
		id = jp_location_id(to, object, l->offset, l->address);
	if (id != JP_NONE && l->bundled &&
	    jp_location_bundled(to, id, l, jp_location_vaddr(from, i), frames, l->frame_count))
		id = JP_NONE;
	free(frames);
	return id;
}

static int translate_locations(struct jprof_profile *to, const struct jprof_profile *from, const struct translation *t)
{
	for (uint32_t i = 0; i < jp_location_count(from); i++) {
		const struct jp_location *l = &from->locations[i];
		uint32_t object = t->object[l->object];
		t->location[i] = l->given || l->bundled ? translate_named(to, from, object, i)
		                                        : jp_location_id(to, object, l->offset, l->address);
		if (t->location[i] == JP_NONE)
			return -1;
	}
	return 0;
}

static int add_notes(struct jprof_profile *to, const struct jprof_profile *from)
{
	for (size_t i = 0; i < from->note_count; i++)
		if (jp_note_advised(to, from->notes[i], from->note_advice[i]))
			return -1;
	return 0;
}

/* By what mappings are found: all of one, where it begins, or that its object has any. */
struct mapping_place {
	uint64_t start, limit;
	uint32_t object;
	enum { PLACE_WHOLE, PLACE_START, PLACE_OBJECT } kind;
};

/* Equal bytes for equal places: what the kind does not ask for is 0. */
static struct mapping_place mapping_place_of(const struct jp_mapping *m, uint32_t object, unsigned kind)
{
	struct mapping_place place;
	memset(&place, 0, sizeof place);
	place.object = object;
	place.kind = kind;
	place.start = kind == PLACE_OBJECT ? 0 : m->map.start;
	place.limit = kind == PLACE_WHOLE ? m->map.limit : 0;
	return place;
}

static bool has_mapping_place(const struct jprof_profile *profile, const struct jp_mapping *m, uint32_t object,
                              unsigned kind)
{
	struct mapping_place place = mapping_place_of(m, object, kind);
	return jp_intern_find(&profile->mapping_keys, &place, sizeof place) != JP_NONE;
}

/* Of all mappings that were added since the last time. 0, or -1 when memory is short. */
static int index_mappings(struct jprof_profile *profile)
{
	for (; profile->mapping_indexed < profile->mapping_count; profile->mapping_indexed++) {
		const struct jp_mapping *m = &profile->mappings[profile->mapping_indexed];
		for (unsigned kind = PLACE_WHOLE; kind <= PLACE_OBJECT; kind++) {
			struct mapping_place place = mapping_place_of(m, m->object, kind);
			if (jp_intern(&profile->mapping_keys, &place, sizeof place) == JP_NONE)
				return -1;
		}
	}
	return 0;
}

/* The same mapping twice would prove nothing more about its file. */
static int translate_mappings(struct jprof_profile *to, const struct jprof_profile *from, const struct translation *t)
{
	for (size_t i = 0; i < from->mapping_count; i++) {
		struct jp_mapping m = from->mappings[i];
		m.object = t->object[m.object];
		if (has_mapping_place(to, &m, m.object, PLACE_WHOLE))
			continue;
		if (jp_array_push(to->mappings, to->mapping_count, to->mapping_cap))
			return -1;
		to->mappings[to->mapping_count++] = m;
		if (index_mappings(to))
			return -1;
	}
	return 0;
}

/* Whether two profiles have a common past: most files that both have mapped lie at the same addresses. Without
 * maps that is taken for granted, for then stacks match by their addresses. After index_mappings. */
static bool are_related(const struct jprof_profile *to, const struct jprof_profile *from, const uint32_t *object)
{
	size_t same = 0, moved = 0;
	for (size_t i = 0; i < from->mapping_count; i++) {
		const struct jp_mapping *m = &from->mappings[i];
		bool there = has_mapping_place(to, m, object[m->object], PLACE_START);
		same += there;
		moved += !there && has_mapping_place(to, m, object[m->object], PLACE_OBJECT);
	}
	return same >= moved;
}

/* Adds to a sample of `profile` what a related one of the same stack holds. */
static int join_sample(struct jprof_profile *profile, struct jp_values *to, const struct jp_values *like, double factor)
{
	profile->lineage.shared_sum |= jp_was_sampled(&to->plus) && jp_was_sampled(&like->plus);
	if (jp_values_add_estimates(&profile->samples, to, like, factor))
		return -1;
	jp_seen_join(&to->plus, &like->plus, factor);
	if (like->less)
		jp_seen_join(&to->less->seen, &like->less->seen, factor);
	return 0;
}

static bool is_equal(const struct jp_values *a, const struct jp_values *b, int pair)
{
	const double *one = a->value + 2 * pair, *other = b->value + 2 * pair;
	return a->plus.n[pair] == b->plus.n[pair] && one[0] == other[0] && one[1] == other[1];
}

/* Takes from a sample of `profile` what a related one of the same stack holds. */
static int cancel_sample(struct jprof_profile *profile, struct jp_values *to, const struct jp_values *like, bool closed)
{
	struct jp_seen early = like->plus;
	struct jp_sides sides = { { is_equal(to, like, 0), is_equal(to, like, 1) }, closed };
	jp_seen_cancel(&to->plus, &early, &sides, &profile->lineage);
	if (jp_values_add_estimates(&profile->samples, to, like, -1))
		return -1;
	jp_seen_add(&to->less->seen, &early, -1);
	jp_seen_add(&to->plus, &jp_values_less(like)->seen, -1);
	return 0;
}

static void merge_values(struct jprof_profile *to, struct jp_values *sum, const struct jp_values *like, double factor,
                         const struct translation *t, bool closed)
{
	bool related = t->related;
	int rc = related && factor == -1  ? cancel_sample(to, sum, like, closed)
	         : related && factor >= 0 ? join_sample(to, sum, like, factor)
	                                  : jp_values_add(&to->samples, sum, like, factor);
	(void)rc; /* there is nothing that it could want memory for: translate_samples has made it */
}

/* One that is new has the other's counters, if they mean the same here; else it needs a sum. */
static void merge_sample(struct jprof_profile *to, struct jp_sample *sample, const struct jprof_profile *from,
                         const struct jp_sample *other, double factor, const struct translation *t)
{
	if (sample->sum != JP_NONE) {
		struct jp_values like = jp_sample_values(&from->samples, other);
		uint32_t epoch = jp_sample_label(&to->samples, sample).epoch;
		bool closed = epoch != JP_NONE && t->epochs.closed[epoch];
		merge_values(to, &to->samples.sums[sample->sum], &like, factor, t, closed);
		return;
	}
	memcpy(sample->counted, other->counted, sizeof sample->counted);
	if (sample->large != JP_NONE)
		to->samples.large[sample->large] = from->samples.large[other->large];
}

/* Makes all that merge_sample will want. 0, or -1 when memory is short. */
static int room_for_sample(struct jprof_profile *to, struct jp_sample *sample, bool known,
                           const struct jprof_profile *from, const struct jp_sample *other, double factor)
{
	bool alike = to->samples.scaling == from->samples.scaling && to->samples.rate == from->samples.rate;
	if (!known && factor == 1 && other->sum == JP_NONE && alike)
		return other->large == JP_NONE ? 0 : jp_sample_make_large(&to->samples, sample);
	bool less = factor < 0 || (other->sum != JP_NONE && from->samples.sums[other->sum].less);
	struct jp_values *sum = jp_sample_sum(&to->samples, sample);
	return !sum || (less && !jp_values_make_less(&to->samples, sum)) ? -1 : 0;
}

static int translate_label(struct jprof_profile *to, const struct jprof_profile *from, const struct jp_sample *other,
                           const struct translation *t, uint32_t *id)
{
	struct jp_label label = jp_sample_label(&from->samples, other);
	if (label.thread != JP_NONE && (label.thread = jp_thread_label(to, jp_string(from, label.thread))) == JP_NONE)
		return -1;
	if (label.epoch != JP_NONE)
		label.epoch = t->epochs.epoch[label.epoch];
	if (label.tag != JP_NONE && (label.tag = jp_tag_id(&to->tags, jp_tag_kind(&from->tags, label.tag),
	                                                   jp_tag_text(&from->tags, label.tag))) == JP_NONE)
		return -1;
	if (label.worker != JP_NONE &&
	    (label.worker = jp_intern_str(&to->strings, jp_string(from, label.worker))) == JP_NONE)
		return -1;
	return jp_label_id(&to->samples, label, id) ? 0 : -1;
}

/* The sum's sample for each of the other's, without values where it is new, and with room for what is subtracted. */
static int translate_samples(struct jprof_profile *to, const struct jprof_profile *from, double factor,
                             struct translation *t)
{
	uint32_t *stack = NULL, count = jp_sample_count(from), old_stacks = to->stacks.ids.count;
	size_t cap = 0;
	int rc = 0;
	for (uint32_t i = 0; !rc && i < count; i++) {
		size_t depth;
		const struct jp_sample *other = &from->samples.items[i];
		const uint32_t *old = jp_stack_get(from, other->stack, &depth);
		uint32_t label;
		bool known;
		if (jp_array_reserve(&stack, &cap, depth + 1, sizeof *stack))
			rc = -1;
		for (size_t f = 0; !rc && f < depth; f++)
			stack[f] = t->location[old[f]];
		if (!rc)
			rc = translate_label(to, from, other, t, &label);
		uint32_t id = rc ? JP_NONE : jp_stack_id(&to->stacks, stack, depth);
		struct jp_sample *sample = rc ? NULL : jp_sample_make(&to->samples, id, label, &known);
		if (!sample || room_for_sample(to, sample, known, from, &from->samples.items[i], factor))
			rc = -1;
		else
			t->sample[i] = (uint32_t)(sample - to->samples.items);
		t->common += !rc && id < old_stacks;
	}
	free(stack);
	return rc;
}

int jp_merge_note(struct jprof_profile *difference, bool some, size_t common, bool *same)
{
	struct jp_compared jp_cleanup(jp_compared_release) compared;
	if (jp_compared_of(difference, &compared))
		return -1;
	*same = jp_compared_all_same(&compared);
	difference->nothing_common = some && !common;
	if (difference->nothing_common &&
	    jp_note(difference, "the two have no stack in common, as dumps of different programs or builds; a "
	                        "difference of them is no growth"))
		return -1;
	return jp_compared_note(difference, &compared);
}

/* `before` are the samples that there were. */
static int judge_processes(struct jprof_profile *to, const struct jprof_profile *from, size_t before,
                           struct translation *t)
{
	bool same;
	if (jp_merge_note(to, before && jp_sample_count(from) && !t->unlike, t->common, &same))
		return -1;
	to->nothing_common |= t->unlike;
	t->replaced |= t->related && !same;
	t->related = t->related && !t->replaced;
	return 0;
}

/* Before the samples, which add to it. */
static void merge_lineage(struct jp_lineage *to, const struct jp_lineage *from, double factor, bool related)
{
	to->rate = to->rate > from->rate ? to->rate : from->rate;
	to->subtracted |= from->subtracted || factor < 0;
	to->strangers |= from->strangers || (factor < 0 && !related);
	to->shared_sum |= from->shared_sum;
	to->replaced |= from->replaced;
	to->other_counts |= from->other_counts;
	to->shared_unknown |= from->shared_unknown || (related && factor < 0 && factor != -1);
}

static int add_inputs(struct jprof_profile *to, const struct jprof_profile *from, double factor)
{
	size_t count = from->input_count; /* they may be one and the same */
	for (size_t i = 0; i < count; i++) {
		uint32_t id = jp_intern_str(&to->strings, jp_string(from, from->inputs[i]));
		if (id == JP_NONE || jp_array_push(to->inputs, to->input_count, to->input_cap))
			return -1;
		if (factor > 0)
			to->inputs[to->input_count++] = id;
		else if (!i)
			to->base_input = id;
	}
	return 0;
}

/* ---- all or nothing -------------------------------------------------------------------------------- */

static int add_directories(struct jprof_profile *to, const struct jprof_profile *from)
{
	for (uint32_t i = 0; i < from->directories.count; i++)
		if (jp_intern_str(&to->directories, jp_intern_get(&from->directories, i)) == JP_NONE)
			return -1;
	for (uint32_t i = 0; i < from->gems.count; i++)
		if (jp_intern_str(&to->gems, jp_intern_get(&from->gems, i)) == JP_NONE)
			return -1;
	return 0;
}

/* The name of the main program's file, by the maps; "": it is not known. */
static const char *mapped_program(const struct jprof_profile *p)
{
	const struct jp_code code = jp_code_of(p);
	uint32_t object = jp_code_program(&code);
	return object == JP_NONE ? "" : jp_basename(jp_code_object(&code, object));
}

/* Plain dumps do not say of which process they are. Any two programs have some stacks of the loader in common, so that
 * the maps have to tell. */
static int note_unlike(struct jprof_profile *to, const struct jprof_profile *from, struct translation *t)
{
	const char *now = mapped_program(to), *base = mapped_program(from);
	bool known = to->identity_count && from->identity_count;
	t->unlike = !known && *now && *base && strcmp(now, base) != 0;
	return t->unlike ? jp_note(to,
	                           "the later one is of %.80s and the base of %.80s: a difference of two programs is "
	                           "no growth",
	                           now, base)
	                 : 0;
}

/* A difference of what one side alone has sampled is no growth. */
static int note_slots(struct jprof_profile *to, const struct jprof_profile *from, struct translation *t)
{
	if (to->info.has_slots == from->info.has_slots)
		return 0;
	if (jp_moved_samples_back(to, &t->moved_back, &t->moved_count))
		return -1;
	return jp_note(to, "objects in slots of Ruby's own heap were sampled in the %s alone, and are left out",
	               to->info.has_slots ? "later one" : "base");
}

/* All that needs memory: ids for what the other has. Nothing is added up yet. */
static int translate(struct jprof_profile *to, const struct jprof_profile *from, const struct jp_merging *how,
                     struct translation *t)
{
	double factor = how->factor;
	t->object = calloc((size_t)jp_object_count(from) + 1, sizeof *t->object);
	t->location = calloc((size_t)jp_location_count(from) + 1, sizeof *t->location);
	t->sample = calloc((size_t)jp_sample_count(from) + 1, sizeof *t->sample);
	if (!t->object || !t->location || !t->sample || (factor < 0 && !how->part && note_unlike(to, from, t)) ||
	    translate_objects(to, from, t->object) || translate_locations(to, from, t) || index_mappings(to) ||
	    jp_epochs_join_begin(&to->epochs, &from->epochs, factor < 0, &t->epochs))
		return -1;
	uint32_t before = jp_sample_count(to);
	t->related = t->epochs.same_process || are_related(to, from, t->object);
	t->replaced = t->related && how->replaced;
	t->related = t->related && !t->replaced;
	return translate_mappings(to, from, t) || translate_samples(to, from, factor, t) || add_notes(to, from) ||
	               jp_identity_merge(to, from, factor) || add_directories(to, from) ||
	               (factor < 0 && !how->part && judge_processes(to, from, before, t)) ||
	               (factor < 0 && note_slots(to, from, t)) || add_inputs(to, from, factor)
	           ? -1
	           : 0;
}

/* All that cannot fail. */
static void merge_samples(struct jprof_profile *to, const struct jprof_profile *from, double factor,
                          struct translation *t)
{
	uint32_t samples = jp_sample_count(from);
	bool plain = factor == -1 && !to->lineage.subtracted && !from->lineage.subtracted;
	jp_epochs_join_end(&to->epochs, &from->epochs, factor < 0, plain, &t->epochs);
	merge_lineage(&to->lineage, &from->lineage, factor, t->related);
	to->lineage.replaced |= t->replaced;
	for (uint32_t i = 0; i < samples; i++)
		merge_sample(to, &to->samples.items[t->sample[i]], from, &from->samples.items[i], factor, t);
	for (uint32_t i = 0; i < jp_location_count(from); i++)
		to->locations[t->location[i]].returned_to |= from->locations[i].returned_to;
	if (to->allocator_hint == JP_NONE && from->allocator_hint != JP_NONE)
		to->allocator_hint = t->object[from->allocator_hint];
	if (to->outside_ruby == JP_NONE && from->outside_ruby != JP_NONE)
		to->outside_ruby = t->location[from->outside_ruby];
	to->info.has_ruby |= from->info.has_ruby;
	bool one_sided = factor < 0 && to->info.has_slots != from->info.has_slots;
	to->info.has_slots |= from->info.has_slots;
	if (one_sided) {
		jp_slot_samples_drop(to);
		jp_moved_samples_undo(to, t->moved_back, t->moved_count);
	}
	to->unlearned_ruby |= from->unlearned_ruby;
	to->loose_addresses |= from->loose_addresses;
	if (factor < 0 && from->mtime > to->base_mtime)
		to->base_mtime = from->mtime;
	if (from->mtime > to->mtime)
		to->mtime = from->mtime;
	if (!to->info.inputs || from->first_mtime < to->first_mtime)
		to->first_mtime = from->first_mtime;
	if (from->rate != to->rate)
		to->rate = 0;
	for (int c = 0; c < JPROF_COUNTERS && factor > 0; c++) {
		to->cut.all[c] += from->cut.all[c];
		to->cut.cut[c] += from->cut.cut[c];
	}
	to->info.inputs += from->info.inputs;
	jp_outside_add(&to->outside, &from->outside, factor);
}

/* What a profile was before: its counts, and what translating may change. NULL: nothing of it. */
struct backup {
	struct jprof_profile was;
	struct jp_object *objects;
	struct jp_location *locations;
	uint64_t *vaddrs;
	uint32_t *threads;
};

/* Whether what is known of an object or a location there may be taken over for one that is known here. */
static bool tells_of_objects(const struct jprof_profile *from)
{
	for (uint32_t i = 0; i < jp_object_count(from); i++) {
		const struct jp_object *o = &from->objects[i];
		if (o->bundled || o->build_id != JP_NONE || o->refused_id != JP_NONE || o->doubt || o->by_id_only)
			return true;
	}
	return false;
}

static bool tells_of_locations(const struct jprof_profile *from)
{
	for (uint32_t i = 0; i < jp_location_count(from); i++)
		if (from->locations[i].bundled || from->locations[i].given)
			return true;
	return false;
}

/* A copy in *copy, if it is wanted. 0, or -1 when memory is short. */
static int keep_copy(bool wanted, const void *items, size_t count, size_t size, void *copy)
{
	void *kept = wanted ? calloc(count + 1, size) : NULL;
	if (kept && count)
		memcpy(kept, items, count * size);
	memcpy(copy, &kept, sizeof kept);
	return wanted && !kept ? -1 : 0;
}

static int back_up(const struct jprof_profile *p, const struct jprof_profile *from, struct backup *b)
{
	*b = (struct backup){ .was = *p };
	return keep_copy(tells_of_objects(from), p->objects, jp_object_count(p), sizeof *p->objects, &b->objects) ||
	               keep_copy(tells_of_locations(from), p->locations, jp_location_count(p), sizeof *p->locations,
	                         &b->locations) ||
	               keep_copy(tells_of_locations(from), p->vaddrs, p->vaddr_count, sizeof *p->vaddrs, &b->vaddrs) ||
	               keep_copy(from->thread_count, p->threads, p->thread_count, sizeof *p->threads, &b->threads)
	           ? -1
	           : 0;
}

static void restore(struct jprof_profile *p, const struct backup *b)
{
	if (b->locations && p->locations) {
		memcpy(p->locations, b->locations, b->was.location_ids.count * sizeof *p->locations);
		for (size_t i = b->was.vaddr_count; i < p->vaddr_count; i++)
			p->vaddrs[i] = 0;
	}
	if (b->vaddrs && b->was.vaddr_count)
		memcpy(p->vaddrs, b->vaddrs, b->was.vaddr_count * sizeof *p->vaddrs);
	jp_profile_undo_adding(p, &b->was);
	if (b->objects && p->objects)
		memcpy(p->objects, b->objects, jp_object_count(p) * sizeof *p->objects);
	if (b->threads && p->threads)
		memcpy(p->threads, b->threads, p->thread_count * sizeof *p->threads);
}

int jp_profile_merge_as(struct jprof_profile *to, const struct jprof_profile *from, struct jp_merging *how,
                        struct jprof_error *err)
{
	struct translation t = { 0 };
	struct backup backup;
	if (to->named || from->named)
		return jp_error(
		    err, JPROF_E_ARGUMENT, NULL, 0,
		    "names were looked for already: add and subtract profiles before jprof_profile_symbolize");
	int rc = back_up(to, from, &backup);
	if (!rc && (rc = translate(to, from, how, &t)))
		restore(to, &backup);
	if (!rc)
		merge_samples(to, from, how->factor, &t);
	how->common = t.common;
	free(backup.objects);
	free(backup.locations);
	free(backup.vaddrs);
	free(backup.threads);
	free(t.object);
	free(t.location);
	free(t.sample);
	free(t.moved_back);
	jp_epochs_join_release(&t.epochs);
	return rc ? jp_error_nomem(err) : 0;
}

int jp_profile_merge(struct jprof_profile *to, const struct jprof_profile *from, double factor, struct jprof_error *err)
{
	struct jp_merging how = { .factor = factor };
	return jp_profile_merge_as(to, from, &how, err);
}

int jprof_profile_add(struct jprof_profile *profile, const struct jprof_profile *other, struct jprof_error *err)
{
	if (jp_null(err, profile, other))
		return JPROF_E_ARGUMENT;
	return jp_profile_merge(profile, other, 1, err);
}

int jprof_profile_difference(struct jprof_profile *profile, const struct jprof_profile *base, struct jprof_error *err)
{
	if (jp_null(err, profile, base))
		return JPROF_E_ARGUMENT;
	return jp_profile_merge(profile, base, -1, err);
}
