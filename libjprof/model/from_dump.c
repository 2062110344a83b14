/* From a heap_v2 dump to the model: addresses become locations, counters become estimates. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/opts.h"
#include "input/heapfile.h"
#include "model/profile.h"
#include "model/sampling.h"

struct work {
	const struct jprof_dump *dump;
	struct jprof_profile *profile;
	uint32_t *location; /* of each address of the dump */
	uint32_t *stack;    /* room for the deepest */
};

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

/* ---- samples ------------------------------------------------------------------------------ */

static void put_seen(struct jp_sample *s, int pair, const struct jp_sampling *seen)
{
	s->plus.n[pair] = seen->n;
	for (int i = 0; i < 2; i++) {
		int c = 2 * pair + i;
		s->plus.variance[c] = seen->variance[i];
		s->plus.worth[c] = (float)fmin(seen->worth[i], FLT_MAX);
		s->plus.open[c] = (float)seen->open;
		s->shift[c] = seen->shift[i];
	}
}

static struct jp_sample sample_of(const struct jprof_dump *dump, const struct jp_record *record, uint32_t thread)
{
	struct jp_sample s = { .thread = thread };
	jp_unbias_record(dump->info.rate, record->count, s.value);
	for (int pair = 0; pair < 2; pair++) {
		struct jp_sampling seen = jp_sampling_of(dump->info.rate, record->count + 2 * pair);
		put_seen(&s, pair, &seen);
	}
	return s;
}

static int add_record(struct work *w, const struct jp_record *record, uint32_t thread)
{
	const struct jp_stack *from = &w->dump->stacks[record->stack];
	for (uint32_t f = 0; f < from->depth; f++)
		w->stack[f] = w->location[w->dump->frames[from->first + f]];
	struct jp_sample sample = sample_of(w->dump, record, thread);
	return jp_sample_add(w->profile, w->stack, from->depth, &sample, 1);
}

static bool is_thread(const struct jprof_dump_thread *t, const char *wanted)
{
	char number[32];
	snprintf(number, sizeof number, "%llu", (unsigned long long)t->id);
	return !strcmp(wanted, number) || (*t->name && !strcmp(wanted, t->name));
}

/* A thread's label: names may be equal, numbers are not. */
static uint32_t label_of(struct jprof_profile *profile, const struct jprof_dump_thread *t)
{
	char label[512];
	snprintf(label, sizeof label, "t%llu%s%.400s", (unsigned long long)t->id, *t->name ? " " : "", t->name);
	return jp_thread_label(profile, label);
}

static int add_per_thread(struct work *w, const char *wanted)
{
	bool all = !strcmp(wanted, "*");
	int rc = 0;
	for (size_t i = 0; !rc && i < w->dump->per_thread.count; i++) {
		const struct jp_record *record = &w->dump->per_thread.items[i];
		const struct jprof_dump_thread *t = &w->dump->threads[record->thread].pub;
		if (!all && !is_thread(t, wanted))
			continue;
		uint32_t label = all ? label_of(w->profile, t) : JP_NONE;
		rc = all && label == JP_NONE ? -1 : add_record(w, record, label);
	}
	return rc;
}

static int add_together(struct work *w)
{
	int rc = 0;
	for (size_t i = 0; !rc && i < w->dump->totals.count; i++)
		rc = add_record(w, &w->dump->totals.items[i], JP_NONE);
	return rc;
}

static int fill(struct work *w, const struct jprof_maps *maps, const char *thread)
{
	const struct jprof_dump *dump = w->dump;
	w->location = calloc(dump->info.addresses + 1, sizeof *w->location);
	w->stack = calloc(dump->info.depth + 1, sizeof *w->stack);
	int rc = w->location && w->stack ? add_mappings(w->profile, maps) : -1;
	for (size_t i = 0; !rc && i < dump->info.addresses; i++) {
		w->location[i] = location_of_address(w->profile, maps, dump->addresses[i]);
		rc = w->location[i] == JP_NONE ? -1 : 0;
	}
	if (!rc)
		rc = find_allocator(w->profile, dump, w->location);
	if (!rc)
		rc = thread ? add_per_thread(w, thread) : add_together(w);
	free(w->location);
	free(w->stack);
	return rc;
}

static bool has_thread(const struct jprof_dump *dump, const char *wanted)
{
	for (size_t i = 0; i < dump->info.threads; i++)
		if (is_thread(&dump->threads[i].pub, wanted))
			return true;
	return !strcmp(wanted, "*");
}

int jprof_profile_new(const struct jprof_dump *dump, const struct jprof_profile_opts *given, struct jprof_profile **out,
                      struct jprof_error *err)
{
	struct jprof_profile_opts opts;
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	if (rc)
		return rc;
	if (opts.thread && !has_thread(dump, opts.thread))
		return jp_error(err, JPROF_E_ARGUMENT, dump->name, 0, "has no thread %s; jprof info lists its threads",
		                opts.thread);
	struct work w = { .dump = dump, .profile = jp_profile_empty() };
	if (!w.profile || fill(&w, opts.maps ? opts.maps : dump->maps, opts.thread)) {
		jprof_profile_free(w.profile);
		return jp_error_nomem(err);
	}
	w.profile->mtime = dump->mtime;
	w.profile->rate = dump->info.rate;
	*out = w.profile;
	return 0;
}
