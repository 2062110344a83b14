#include "model/profile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "input/heapfile.h"

struct object_key {
	uint32_t path;
	uint32_t kind;
};

struct location_key {
	uint32_t object;
	uint32_t folded;
	uint64_t offset;
};

uint32_t jp_object_count(const struct jprof_profile *profile)
{
	return profile->object_keys.count;
}

uint32_t jp_location_count(const struct jprof_profile *profile)
{
	return profile->location_keys.count;
}

uint32_t jp_sample_count(const struct jprof_profile *profile)
{
	return profile->sample_keys.count;
}

const char *jp_string(const struct jprof_profile *profile, uint32_t id)
{
	return id == JP_NONE ? "" : jp_intern_get(&profile->strings, id);
}

const char *jp_basename(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

uint32_t jp_object_id(struct jprof_profile *profile, const struct jp_object *like)
{
	struct object_key key = { .path = like->path, .kind = like->unmapped ? UINT32_MAX : (uint32_t)like->kind };
	uint32_t known = jp_object_count(profile), id = jp_intern(&profile->object_keys, &key, sizeof key);
	if (id != known || id == JP_NONE)
		return id;
	if (jp_array_reserve(&profile->objects, &profile->object_cap, (size_t)id + 1, sizeof *profile->objects))
		return JP_NONE;
	profile->objects[id] = *like;
	profile->objects[id].build_id = profile->objects[id].reason = profile->objects[id].advice = JP_NONE;
	return id;
}

static uint32_t location_add(struct jprof_profile *profile, const struct jp_location *like)
{
	struct location_key key = { like->object, like->folded, like->offset };
	uint32_t known = jp_location_count(profile), id = jp_intern(&profile->location_keys, &key, sizeof key);
	if (id != known || id == JP_NONE)
		return id;
	if (jp_array_reserve(&profile->locations, &profile->location_cap, (size_t)id + 1, sizeof *profile->locations))
		return JP_NONE;
	profile->locations[id] = *like;
	return id;
}

uint32_t jp_location_id(struct jprof_profile *profile, uint32_t object, uint64_t offset, uint64_t address)
{
	struct jp_location like = {
		.object = object, .offset = offset, .address = address, .origin = jp_location_count(profile)
	};
	return location_add(profile, &like);
}

uint32_t jp_location_folded(struct jprof_profile *profile, uint32_t location, uint32_t frames)
{
	struct jp_location like = profile->locations[location];
	like.folded += frames;
	like.frame_first += frames;
	like.frame_count -= frames;
	return location_add(profile, &like);
}

uint32_t jp_function_id(struct jprof_profile *profile, const struct jp_function *function)
{
	uint32_t known = profile->function_keys.count;
	uint32_t id = jp_intern(&profile->function_keys, function, sizeof *function);
	if (id != known || id == JP_NONE)
		return id;
	if (jp_array_reserve(&profile->functions, &profile->function_cap, (size_t)id + 1, sizeof *profile->functions))
		return JP_NONE;
	profile->functions[id] = *function;
	return id;
}

int jp_sample_add(struct jprof_profile *profile, const uint32_t *stack, size_t depth,
                  const double value[JPROF_COUNTERS], double factor)
{
	uint32_t stack_id = jp_intern(&profile->stacks, stack, depth * sizeof *stack);
	if (stack_id == JP_NONE)
		return -1;
	uint32_t known = jp_sample_count(profile), id = jp_intern(&profile->sample_keys, &stack_id, sizeof stack_id);
	if (id == JP_NONE ||
	    jp_array_reserve(&profile->samples, &profile->sample_cap, (size_t)id + 1, sizeof *profile->samples))
		return -1;
	if (id == known)
		profile->samples[id] = (struct jp_sample){ .stack = stack_id };
	for (int c = 0; c < JPROF_COUNTERS; c++)
		profile->samples[id].value[c] += factor * value[c];
	return 0;
}

const uint32_t *jp_stack_get(const struct jprof_profile *profile, uint32_t stack, size_t *depth)
{
	*depth = jp_intern_len(&profile->stacks, stack) / sizeof(uint32_t);
	return (const uint32_t *)(const void *)jp_intern_get(&profile->stacks, stack);
}

void jp_samples_clear(struct jprof_profile *profile, struct jp_intern *old_stacks, struct jp_sample **old,
                      uint32_t *old_count)
{
	*old_stacks = profile->stacks;
	*old = profile->samples;
	*old_count = jp_sample_count(profile);
	jp_intern_release(&profile->sample_keys);
	profile->stacks = (struct jp_intern){ 0 };
	profile->samples = NULL;
	profile->sample_cap = 0;
}

int jp_note(struct jprof_profile *profile, const char *fmt, ...)
{
	char text[1024];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	struct jp_strbuf note = { 0 };
	jp_strbuf_visible(&note, text);
	if (note.failed || !note.text || jp_array_push(profile->notes, profile->note_count, profile->note_cap)) {
		jp_strbuf_release(&note);
		return -1;
	}
	profile->notes[profile->note_count++] = note.text;
	return 0;
}

/* ---- from a dump --------------------------------------------------------------------------- */

static uint32_t object_of_map(struct jprof_profile *profile, const struct jprof_map *map)
{
	struct jp_object like = { .kind = map ? jp_map_kind_of(map->path) : JP_MAP_ANON, .unmapped = !map };
	char anon[64];
	const char *path = map ? map->path : "";
	if (map) {
		like.inode = map->inode;
		like.dev_major = map->dev_major;
		like.dev_minor = map->dev_minor;
	}
	if (map && like.kind == JP_MAP_ANON) {
		/* Nothing but its place tells one such region from another. */
		snprintf(anon, sizeof anon, "[anon %llx]", (unsigned long long)map->start);
		path = anon;
	}
	like.path = jp_intern_str(&profile->strings, path);
	return like.path == JP_NONE ? JP_NONE : jp_object_id(profile, &like);
}

/* Only regions that hold an address become objects. */
static uint32_t location_of_address(struct jprof_profile *profile, const struct jprof_maps *maps, uint64_t address)
{
	const struct jprof_map *map = maps ? jp_maps_find(maps, address) : NULL;
	uint32_t object = object_of_map(profile, map);
	if (object == JP_NONE)
		return JP_NONE;
	return jp_location_id(profile, object, map ? address - map->start + map->offset : address, address);
}

static int add_mappings(struct jprof_profile *profile, const struct jprof_maps *maps)
{
	size_t count = maps ? jprof_maps_count(maps) : 0;
	for (size_t i = 0; i < count; i++) {
		const struct jprof_map *map = jprof_maps_at(maps, i);
		enum jp_map_kind kind = jp_map_kind_of(map->path);
		if (kind == JP_MAP_ANON || kind == JP_MAP_SPECIAL)
			continue;
		uint32_t object = object_of_map(profile, map);
		if (object == JP_NONE || jp_array_push(profile->mappings, profile->mapping_count, profile->mapping_cap))
			return -1;
		profile->mappings[profile->mapping_count] = (struct jp_mapping){ *map, object };
		profile->mappings[profile->mapping_count++].map.path = NULL;
	}
	return 0;
}

/* The object that holds the innermost frame of most stacks: that is where the allocator is. */
static int find_allocator(struct jprof_profile *profile, const struct jprof_dump *dump, const uint32_t *location)
{
	size_t *votes = calloc((size_t)jp_object_count(profile) + 1, sizeof *votes);
	if (!votes)
		return -1;
	size_t best = 0;
	for (size_t i = 0; i < dump->info.stacks; i++) {
		const struct jp_stack *stack = &dump->stacks[i];
		if (!stack->depth)
			continue;
		uint32_t object = profile->locations[location[dump->frames[stack->first]]].object;
		if (++votes[object] > best && !profile->objects[object].unmapped) {
			best = votes[object];
			profile->allocator_hint = object;
		}
	}
	free(votes);
	return 0;
}

static int add_samples(struct jprof_profile *profile, const struct jprof_dump *dump, const uint32_t *location)
{
	uint32_t *stack = calloc(dump->info.depth + 1, sizeof *stack);
	int rc = stack ? 0 : -1;
	for (size_t i = 0; !rc && i < dump->totals.count; i++) {
		const struct jp_record *record = &dump->totals.items[i];
		const struct jp_stack *from = &dump->stacks[record->stack];
		double value[JPROF_COUNTERS];
		for (uint32_t f = 0; f < from->depth; f++)
			stack[f] = location[dump->frames[from->first + f]];
		jp_unbias_record(dump->info.rate, record->count, value);
		rc = jp_sample_add(profile, stack, from->depth, value, 1);
	}
	free(stack);
	return rc;
}

static int fill(struct jprof_profile *profile, const struct jprof_dump *dump, const struct jprof_maps *maps)
{
	uint32_t *location = calloc(dump->info.addresses + 1, sizeof *location);
	int rc = location ? add_mappings(profile, maps) : -1;
	for (size_t i = 0; !rc && i < dump->info.addresses; i++) {
		location[i] = location_of_address(profile, maps, dump->addresses[i]);
		rc = location[i] == JP_NONE ? -1 : 0;
	}
	if (!rc)
		rc = find_allocator(profile, dump, location);
	if (!rc)
		rc = add_samples(profile, dump, location);
	free(location);
	return rc;
}

struct jprof_profile *jp_profile_empty(void)
{
	struct jprof_profile *profile = calloc(1, sizeof *profile);
	if (profile)
		profile->allocator_hint = JP_NONE;
	return profile;
}

int jprof_profile_new(const struct jprof_dump *dump, const struct jprof_maps *maps, struct jprof_profile **out,
                      struct jprof_error *err)
{
	struct jprof_profile *profile = jp_profile_empty();
	if (!profile || fill(profile, dump, maps ? maps : dump->maps)) {
		jprof_profile_free(profile);
		return jp_error_nomem(err);
	}
	profile->mtime = dump->mtime;
	*out = profile;
	return 0;
}

double jprof_profile_total(const struct jprof_profile *profile, enum jprof_counter counter)
{
	double sum = 0;
	for (uint32_t i = 0; i < jp_sample_count(profile); i++)
		sum += profile->samples[i].value[counter];
	return sum;
}

size_t jprof_profile_notes(const struct jprof_profile *profile)
{
	return profile->note_count;
}

const char *jprof_profile_note(const struct jprof_profile *profile, size_t i)
{
	return profile->notes[i];
}

void jprof_profile_free(struct jprof_profile *profile)
{
	if (!profile)
		return;
	jp_intern_release(&profile->strings);
	jp_intern_release(&profile->object_keys);
	jp_intern_release(&profile->location_keys);
	jp_intern_release(&profile->function_keys);
	jp_intern_release(&profile->stacks);
	jp_intern_release(&profile->sample_keys);
	free(profile->objects);
	free(profile->locations);
	free(profile->functions);
	free(profile->frames);
	free(profile->samples);
	free(profile->mappings);
	for (size_t i = 0; i < profile->note_count; i++)
		free(profile->notes[i]);
	free(profile->notes);
	free(profile);
}
