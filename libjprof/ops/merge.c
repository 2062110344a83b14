/* Sums and differences: the stacks of one profile meet those of another by object and offset. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "model/profile.h"
#include "ops/related.h"

/* What the other profile's ids are in this one. */
struct translation {
	uint32_t *object;
	uint32_t *location;
	bool related;
};

static int translate_objects(struct jprof_profile *to, const struct jprof_profile *from, uint32_t *object)
{
	for (uint32_t i = 0; i < jp_object_count(from); i++) {
		struct jp_object like = from->objects[i];
		like.path = jp_intern_str(&to->strings, jp_string(from, like.path));
		object[i] = like.path == JP_NONE ? JP_NONE : jp_object_id(to, &like);
		if (object[i] == JP_NONE)
			return -1;
	}
	return 0;
}

/* Names that came with the input are part of it. */
static int copy_frames(struct jprof_profile *to, const struct jprof_profile *from, uint32_t location,
                       const struct jp_location *l)
{
	if (to->locations[location].frame_count)
		return 0;
	to->locations[location].source = l->source;
	for (uint32_t i = 0; i < l->frame_count; i++) {
		const struct jp_frame *frame = &from->frames[l->frame_first + i];
		const struct jp_function *f = &from->functions[frame->function];
		const char *file = f->file == JP_NONE ? NULL : jp_string(from, f->file);
		uint32_t function = jp_function_named(to, jp_string(from, f->name), jp_string(from, f->brief),
		                                      jp_string(from, f->system), file);
		if (jp_frame_add(to, location, function, frame->line, frame->inlined))
			return -1;
	}
	return 0;
}

static int translate_locations(struct jprof_profile *to, const struct jprof_profile *from, const struct translation *t)
{
	for (uint32_t i = 0; i < jp_location_count(from); i++) {
		const struct jp_location *l = &from->locations[i];
		t->location[i] = jp_location_id(to, t->object[l->object], l->offset, l->address);
		if (t->location[i] == JP_NONE ||
		    (l->source == JPROF_SOURCE_INPUT && copy_frames(to, from, t->location[i], l)))
			return -1;
	}
	return 0;
}

static bool has_mapping(const struct jprof_profile *profile, const struct jp_mapping *m)
{
	for (size_t i = 0; i < profile->mapping_count; i++) {
		const struct jp_mapping *known = &profile->mappings[i];
		if (known->object == m->object && known->map.start == m->map.start && known->map.limit == m->map.limit)
			return true;
	}
	return false;
}

/* The same mapping twice would prove nothing more about its file. */
static int translate_mappings(struct jprof_profile *to, const struct jprof_profile *from, const struct translation *t)
{
	for (size_t i = 0; i < from->mapping_count; i++) {
		struct jp_mapping m = from->mappings[i];
		m.object = t->object[m.object];
		if (has_mapping(to, &m))
			continue;
		if (jp_array_push(to->mappings, to->mapping_count, to->mapping_cap))
			return -1;
		to->mappings[to->mapping_count++] = m;
	}
	return 0;
}

static int translate_thread(struct jprof_profile *to, const struct jprof_profile *from, struct jp_sample *sample)
{
	if (sample->thread == JP_NONE)
		return 0;
	sample->thread = jp_thread_label(to, jp_string(from, sample->thread));
	return sample->thread == JP_NONE ? -1 : 0;
}

static int add_sample(struct jprof_profile *to, const uint32_t *stack, size_t depth, const struct jp_sample *like,
                      double factor, bool related)
{
	if (!related || (factor < 0 && factor != -1))
		return jp_sample_add(to, stack, depth, like, factor);
	struct jp_sample *sample = jp_sample_at(to, stack, depth, like->thread);
	if (!sample)
		return -1;
	if (factor < 0)
		jp_sample_cancel(sample, like, &to->lineage);
	else
		jp_sample_join(sample, like, factor, &to->lineage);
	return 0;
}

static int add_samples(struct jprof_profile *to, const struct jprof_profile *from, const struct translation *t,
                       double factor)
{
	uint32_t *stack = NULL;
	size_t cap = 0;
	int rc = 0;
	for (uint32_t i = 0; !rc && i < jp_sample_count(from); i++) {
		struct jp_sample sample = from->samples[i];
		size_t depth;
		const uint32_t *old = jp_stack_get(from, from->samples[i].stack, &depth);
		rc = jp_array_reserve(&stack, &cap, depth + 1, sizeof *stack);
		for (size_t f = 0; !rc && f < depth; f++)
			stack[f] = t->location[old[f]];
		if (!rc)
			rc = translate_thread(to, from, &sample);
		if (!rc)
			rc = add_sample(to, stack, depth, &sample, factor, t->related);
	}
	free(stack);
	return rc;
}

/* Before the samples, which add to it. */
static void merge_lineage(struct jp_lineage *to, const struct jp_lineage *from, double factor, bool related)
{
	to->subtracted |= from->subtracted || factor < 0;
	to->strangers |= from->strangers || (factor < 0 && !related);
	to->shared_sum |= from->shared_sum;
	to->shared_unknown |= from->shared_unknown || (related && factor < 0 && factor != -1);
}

int jprof_profile_merge(struct jprof_profile *to, const struct jprof_profile *from, double factor,
                        struct jprof_error *err)
{
	struct translation t = { calloc((size_t)jp_object_count(from) + 1, sizeof *t.object),
		                 calloc((size_t)jp_location_count(from) + 1, sizeof *t.location), false };
	int rc = t.object && t.location ? 0 : -1;
	if (!rc)
		rc = translate_objects(to, from, t.object);
	if (!rc)
		rc = translate_locations(to, from, &t);
	if (!rc) {
		t.related = jp_related(to, from, t.object);
		merge_lineage(&to->lineage, &from->lineage, factor, t.related);
		rc = translate_mappings(to, from, &t);
	}
	if (!rc)
		rc = add_samples(to, from, &t, factor);
	free(t.object);
	free(t.location);
	if (to->allocator_hint == JP_NONE && from->allocator_hint != JP_NONE && !rc) {
		struct jp_object like = from->objects[from->allocator_hint];
		like.path = jp_intern_str(&to->strings, jp_string(from, like.path));
		to->allocator_hint = like.path == JP_NONE ? JP_NONE : jp_object_id(to, &like);
	}
	if (from->mtime > to->mtime)
		to->mtime = from->mtime;
	if (from->rate != to->rate)
		to->rate = 0;
	return rc ? jp_error_nomem(err) : 0;
}
