/* From a dump in text to the model: addresses become locations, counters become estimates. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/opts.h"
#include "input/dumpdata.h"
#include "input/maps.h"
#include "model/build.h"

struct dump_load {
	const struct jprof_dump *dump;
	struct jprof_profile *profile;
	uint32_t *location; /* of each address of the dump */
	uint32_t *stack;    /* room for the deepest */
	size_t synthetic;
};

/* Of an address that stands for a Ruby stack or an epoch, and for no place: docs/ruby-table.md. */
enum { NO_PLACE = UINT32_MAX };

static bool is_synthetic(const struct jprof_maps *maps, uint64_t address)
{
	static const char name[] = "/memfd:jprof-ids:";
	const struct jprof_map *map = maps ? jp_maps_find(maps, address) : NULL;
	return map && !strncmp(map->path, name, sizeof name - 1);
}

/* The object that holds the innermost frame of most stacks: that is where the allocator is. */
static int vote_allocator(struct jprof_profile *profile, const struct jprof_dump *dump, const uint32_t *location)
{
	size_t *votes = calloc((size_t)jp_object_count(profile) + 1, sizeof *votes);
	if (!votes)
		return -1;
	size_t best = 0;
	for (size_t i = 0; i < dump->info.stacks; i++) {
		const struct jp_stack *stack = &dump->stacks[i];
		if (!stack->depth)
			continue;
		uint32_t innermost = location[dump->frames[stack->first]];
		if (innermost == NO_PLACE)
			continue;
		uint32_t object = profile->locations[innermost].object;
		if (++votes[object] > best && !profile->objects[object].unmapped) {
			best = votes[object];
			profile->allocator_hint = object;
		}
	}
	free(votes);
	return 0;
}

/* ---- names that came with it ---------------------------------------------------------------- */

static const struct jp_given_name *find_given(const struct jprof_dump *dump, uint64_t address)
{
	size_t lo = 0, hi = dump->given_count;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;
		if (dump->given[mid].address < address)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < dump->given_count && dump->given[lo].address == address ? &dump->given[lo] : NULL;
}

static int give_names(struct dump_load *w)
{
	const struct jprof_dump *dump = w->dump;
	for (size_t i = 0; dump->given_count && i < dump->info.addresses; i++) {
		const struct jp_given_name *given = find_given(dump, dump->addresses[i]);
		if (given && w->location[i] != NO_PLACE &&
		    jp_build_given(w->profile, w->location[i], jp_intern_get(&dump->names, given->text)))
			return -1;
	}
	return 0;
}

/* ---- samples ------------------------------------------------------------------------------ */

static struct jp_sample sample_of(const struct jprof_dump *dump, const struct jp_record *record, uint32_t thread)
{
	struct jp_sample s = { .thread = thread };
	jp_scale_record(dump->scaling, dump->info.rate, record->count, s.value);
	for (unsigned first = 0; first < JPROF_COUNTERS; first += 2) {
		if (dump->scaling == JP_SCALE_LINEAR)
			continue;
		/* What was not sampled at all is as if each object had been. */
		uint64_t rate = dump->scaling == JP_SCALE_POISSON ? dump->info.rate : 0;
		const uint64_t count[2] = { record->count[jp_objects_of(first)], record->count[jp_bytes_of(first)] };
		struct jp_sampling seen = jp_sampling_of(rate, count);
		jp_build_seen(&s, first, &seen);
	}
	return s;
}

static int add_record(struct dump_load *w, const struct jp_record *record, uint32_t thread)
{
	const struct jp_stack *from = &w->dump->stacks[record->stack];
	uint32_t depth = 0;
	for (uint32_t f = 0; f < from->depth; f++) {
		uint32_t location = w->location[w->dump->frames[from->first + f]];
		if (location != NO_PLACE)
			w->stack[depth++] = location;
	}
	for (uint32_t f = 1; f < depth; f++)
		w->profile->locations[w->stack[f]].returned_to = true;
	struct jp_sample sample = sample_of(w->dump, record, thread);
	return jp_sample_add(w->profile, w->stack, depth, &sample, 1);
}

/* A thread's label: names may be equal, numbers are not. */
static uint32_t label_of(struct jprof_profile *profile, const struct jprof_dump_thread *t)
{
	char label[512];
	snprintf(label, sizeof label, "t%llu%s%.400s", (unsigned long long)t->id, *t->name ? " " : "", t->name);
	return jp_thread_label(profile, label);
}

static int add_per_thread(struct dump_load *w, const char *wanted)
{
	bool all = !strcmp(wanted, "*");
	struct jp_record record = { 0 };
	int rc = 0;
	for (size_t at = 0; !rc && jp_records_next(&w->dump->per_thread, &at, &record);) {
		const struct jprof_dump_thread *t = &w->dump->threads[record.thread].pub;
		if (!all && !jp_is_thread(t->id, t->name, wanted))
			continue;
		uint32_t label = all ? label_of(w->profile, t) : JP_NONE;
		rc = all && label == JP_NONE ? -1 : add_record(w, &record, label);
	}
	return rc;
}

static int add_together(struct dump_load *w)
{
	struct jp_record record = { 0 };
	int rc = 0;
	for (size_t at = 0; !rc && jp_records_next(&w->dump->totals, &at, &record);)
		rc = add_record(w, &record, JP_NONE);
	return rc;
}

static int fill_from_dump(struct dump_load *w, const struct jprof_maps *maps, const char *thread)
{
	const struct jprof_dump *dump = w->dump;
	w->location = calloc(dump->info.addresses + 1, sizeof *w->location);
	w->stack = calloc(dump->info.depth + 1, sizeof *w->stack);
	int rc = w->location && w->stack ? jp_build_mappings(w->profile, maps) : -1;
	if (!rc) /* most are places of their own */
		rc = jp_array_reserve(&w->profile->locations, &w->profile->location_cap, dump->info.addresses,
		                      sizeof *w->profile->locations);
	for (size_t i = 0; !rc && i < dump->info.addresses; i++) {
		if (is_synthetic(maps, dump->addresses[i])) {
			w->location[i] = NO_PLACE;
			w->synthetic++;
			continue;
		}
		w->location[i] = jp_build_location(w->profile, maps, dump->addresses[i]);
		rc = w->location[i] == JP_NONE ? -1 : 0;
	}
	if (!rc)
		rc = give_names(w);
	if (!rc)
		rc = vote_allocator(w->profile, dump, w->location);
	if (!rc)
		rc = thread ? add_per_thread(w, thread) : add_together(w);
	free(w->location);
	free(w->stack);
	return rc;
}

static bool has_thread(const struct jprof_dump *dump, const char *wanted)
{
	for (size_t i = 0; i < dump->info.threads; i++)
		if (jp_is_thread(dump->threads[i].pub.id, dump->threads[i].pub.name, wanted))
			return true;
	return !strcmp(wanted, "*");
}

static void describe_dump(struct jprof_profile *profile, const struct jprof_dump *dump)
{
	profile->mtime = dump->mtime;
	profile->rate = dump->info.rate;
	profile->info = (struct jprof_profile_info){
		.format = dump->info.format,
		.rate = dump->info.rate,
		.stacks = dump->info.stacks,
		.addresses = dump->info.addresses,
		.depth = dump->info.depth,
		.inputs = 1,
		.members = "",
		.has_alloc = dump->info.has_alloc,
	};
}

int jprof_profile_new(const struct jprof_dump *dump, const struct jprof_profile_opts *given, struct jprof_profile **out,
                      struct jprof_error *err)
{
	if (jp_null(err, dump, out))
		return JPROF_E_ARGUMENT;
	struct jprof_profile_opts opts;
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	if (rc)
		return rc;
	if (opts.thread && !has_thread(dump, opts.thread))
		return jp_advise(err, JPROF_ADVICE_THREAD,
		                 jp_error(err, JPROF_E_ARGUMENT, dump->name, 0, "has no thread %s", opts.thread));
	struct dump_load w = { .dump = dump, .profile = jp_profile_empty() };
	if (!w.profile || fill_from_dump(&w, opts.maps ? opts.maps : dump->maps, opts.thread) ||
	    jp_profile_set_input(w.profile, dump->name) || jp_profile_set_thread(w.profile, opts.thread)) {
		jprof_profile_free(w.profile);
		return jp_error_nomem(err);
	}
	describe_dump(w.profile, dump);
	w.profile->info.addresses -= w.synthetic;
	w.profile->info.synthetic = w.synthetic;
	*out = w.profile;
	return 0;
}

/* The first warning in full: the others are mostly of its kind. */
static int note_warnings(struct jprof_profile *profile, const struct jprof_dump *dump,
                         const struct jprof_profile_opts *opts)
{
	if (!dump->warning_count)
		return 0;
	struct jprof_error first = dump->warnings[0];
	size_t len = strlen(first.text);
	if (!dump->maps && !opts->maps) {
		snprintf(first.text + len, sizeof first.text - len, ", nothing can be named without maps");
		first.advice = JPROF_ADVICE_MAPS;
	}
	if (jp_note_error(profile, &first))
		return -1;
	return dump->warning_count == 1
	           ? 0
	           : jp_note(profile, "%s: %zu more warnings like this", dump->name, dump->warning_count - 1);
}

int jp_profile_from_dump(const struct jprof_dump *dump, const struct jprof_profile_opts *opts,
                         struct jprof_profile **out, struct jprof_error *err)
{
	struct jprof_profile *profile;
	int rc = jprof_profile_new(dump, opts, &profile, err);
	if (!rc && note_warnings(profile, dump, opts)) {
		jprof_profile_free(profile);
		rc = jp_error_nomem(err);
	}
	if (!rc)
		*out = profile;
	return rc;
}
