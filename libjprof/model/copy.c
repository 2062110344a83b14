/* A profile that can be changed apart from the one it was made of. */
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/profile.h"

/* Ids stay what they are. */
static int copy_intern(struct jp_intern *to, const struct jp_intern *from)
{
	for (uint32_t i = 0; i < from->count; i++)
		if (jp_intern(to, jp_intern_get(from, i), jp_intern_len(from, i)) != i)
			return -1;
	return 0;
}

/* A copy of an array of `count` elements in *array, which is the original's; NULL when memory is short. */
static int copy_array(void *array, size_t *cap, size_t count, size_t size)
{
	void *from, *to = calloc(count + 1, size);
	memcpy(&from, array, sizeof from);
	if (to && count)
		memcpy(to, from, count * size);
	memcpy(array, &to, sizeof to);
	*cap = to ? count + 1 : 0;
	return to ? 0 : -1;
}

#define COPY(profile, items, cap, count) copy_array(&(profile)->items, &(profile)->cap, count, sizeof *(profile)->items)

/* The samples are copied; what was subtracted from them still belongs to the original. */
static int copy_subtracted(struct jprof_profile *to)
{
	for (uint32_t i = 0; i < jp_sample_count(to); i++) {
		struct jp_sample *sample = &to->samples[i];
		const struct jp_less *theirs = sample->less;
		if (!theirs)
			continue;
		sample->less = NULL;
		if (!jp_sample_make_less(to, sample))
			return -1;
		*sample->less = *theirs;
	}
	return 0;
}

static int copy_notes(struct jprof_profile *to, const struct jprof_profile *from)
{
	for (size_t i = 0; i < from->note_count; i++)
		if (jp_note_advised(to, from->notes[i], from->note_advice[i]))
			return -1;
	return 0;
}

static int copy_keys(struct jprof_profile *to, const struct jprof_profile *from)
{
	return copy_intern(&to->strings, &from->strings) || copy_intern(&to->object_keys, &from->object_keys) ||
	       copy_intern(&to->stacks, &from->stacks) || copy_intern(&to->variant_keys, &from->variant_keys) ||
	       jp_index_copy(&to->location_ids, &from->location_ids) ||
	       jp_index_copy(&to->function_ids, &from->function_ids) ||
	       jp_index_copy(&to->sample_ids, &from->sample_ids);
}

/* All are tried, so that none is left that belongs to the original. */
static int copy_arrays(struct jprof_profile *to, const struct jprof_profile *from)
{
	int rc = COPY(to, objects, object_cap, jp_object_count(from));
	rc |= COPY(to, locations, location_cap, jp_location_count(from));
	rc |= COPY(to, functions, function_cap, jp_function_count(from));
	rc |= COPY(to, frames, frame_cap, from->frame_count);
	rc |= COPY(to, samples, sample_cap, jp_sample_count(from));
	rc |= COPY(to, threads, thread_cap, from->thread_count);
	rc |= COPY(to, mappings, mapping_cap, from->mapping_count);
	return rc;
}

static int copy_members(struct jprof_profile *to, const struct jprof_profile *from)
{
	if (!from->members)
		return 0;
	to->info.members = to->members = strdup(from->members);
	return to->members ? 0 : -1;
}

int jprof_profile_copy(const struct jprof_profile *profile, struct jprof_profile **copy, struct jprof_error *err)
{
	static const struct jp_intern none;
	struct jprof_profile *p = jp_profile_empty();
	if (!p)
		return jp_error_nomem(err);
	*p = *profile;
	p->strings = p->object_keys = p->stacks = p->variant_keys = p->mapping_keys = none;
	p->location_ids = p->function_ids = p->sample_ids = (struct jp_index){ 0 };
	p->subtracted = (struct jp_arena){ 0 };
	p->mapping_indexed = 0;
	p->notes = NULL;
	p->note_advice = NULL;
	p->note_advice_cap = 0;
	p->note_count = p->note_cap = 0;
	p->members = NULL;
	if (copy_arrays(p, profile) || copy_keys(p, profile) || copy_subtracted(p) || copy_notes(p, profile) ||
	    copy_members(p, profile)) {
		jprof_profile_free(p);
		return jp_error_nomem(err);
	}
	*copy = p;
	return 0;
}
