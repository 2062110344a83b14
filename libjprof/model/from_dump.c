/* From a dump in text to the model: addresses become locations, counters become estimates. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/opts.h"
#include "base/search.h"
#include "input/dumpdata.h"
#include "model/build.h"
#include "model/cutstacks.h"
#include "model/fileproof.h"
#include "model/movedsamples.h"
#include "model/slotsamples.h"

struct dump_load {
	const struct jprof_dump *dump;
	struct jprof_dump *taken; /* the same, if its stacks may be taken; else NULL */
	struct jprof_profile *profile;
	uint64_t *location; /* the dump's addresses, then the location of each; the dump's own if it may be taken */
	uint32_t *places;   /* locations of all frames; of the profile */
	bool *cut;          /* by stack: jemalloc left frames out */
	bool *returned_to;  /* by location of native code: as jp_location has it */
	struct jp_ruby_load ruby;
	uint32_t worker; /* of all samples; JP_NONE: it is not told */
};

/* The object that holds the innermost frame of most stacks: that is where the allocator is. */
static int vote_allocator(const struct dump_load *w)
{
	struct jprof_profile *profile = w->profile;
	size_t *votes = calloc((size_t)jp_object_count(profile) + 1, sizeof *votes);
	if (!votes)
		return -1;
	size_t best = 0, first = 0;
	for (size_t i = 0; i < w->dump->info.stacks; first += w->dump->depths[i++]) {
		if (!w->dump->depths[i] || w->places[first] & jp_ruby_mark)
			continue;
		uint32_t object = profile->locations[w->places[first]].object;
		if (++votes[object] > best && !profile->objects[object].unmapped) {
			best = votes[object];
			profile->allocator_hint = object;
		}
	}
	free(votes);
	return 0;
}

/* ---- names that came with it ---------------------------------------------------------------- */

static int name_location(struct dump_load *w, uint64_t address, uint32_t location)
{
	const struct jprof_dump *dump = w->dump;
	size_t i = jp_count_below(dump->given, dump->given_count, sizeof *dump->given, address);
	if (i == dump->given_count || dump->given[i].address != address)
		return 0;
	const struct jp_given_name *given = &dump->given[i];
	return given->frame_count ? jp_build_given_frames(w->profile, location, dump, given)
	                          : jp_build_given(w->profile, location, jp_intern_get(&dump->names, given->text));
}

/* What it says of files. One without maps may still say whose names are in doubt. */
static int take_given_files(struct dump_load *w)
{
	const struct jprof_dump *dump = w->dump;
	for (uint32_t i = 0; i < jp_object_count(w->profile); i++)
		w->profile->objects[i].by_id_only = dump->symbolized;
	for (size_t i = 0; i < dump->given_file_count; i++) {
		const char *line = jp_intern_get(&dump->names, dump->given_files[i]);
		if (jp_fileproof_take(w->profile, (struct jp_span){ line, strlen(line) }, !w->profile->mapping_count))
			return -1;
	}
	return 0;
}

/* ---- samples ------------------------------------------------------------------------------ */

/* Where the frames of records are: stacks come in order. */
struct stack_cursor {
	uint32_t stack, id; /* that of the last record, and its id in the profile or JP_NONE */
	uint32_t epoch;     /* likewise */
	uint32_t tag;
	size_t first;
};

/* Of records that have no address, or none of code: a row has their bytes, too. JP_NONE when memory is short. */
static uint32_t stack_of_nowhere(struct dump_load *w)
{
	uint32_t place = jp_build_placeless(w->profile);
	return place == JP_NONE ? JP_NONE : jp_stack_id(&w->profile->stacks, &place, 1);
}

/* The stack of a record; JP_NONE when memory is short. */
static uint32_t stack_of_record(struct dump_load *w, struct stack_cursor *c, uint32_t stack)
{
	const uint32_t *depths = w->dump->depths;
	for (; c->stack < stack; c->id = JP_NONE)
		c->first += depths[c->stack++];
	if (c->id != JP_NONE)
		return c->id;
	uint32_t *places = w->places + c->first, depth = depths[stack], all = depth;
	const uint32_t *joined = places;
	if (w->ruby.any && !(joined = jp_ruby_join(&w->ruby, places, &depth, &all)))
		return JP_NONE;
	for (uint32_t f = 1; f < depth; f++)
		w->returned_to[places[f]] = true;
	c->epoch = w->ruby.any ? w->ruby.epoch : JP_NONE;
	c->tag = w->ruby.any ? w->ruby.tag : JP_NONE;
	c->id = !all               ? stack_of_nowhere(w)
	        : joined == places ? jp_stack_id_owned(&w->profile->stacks, places, depth)
	                           : jp_stack_id(&w->profile->stacks, joined, all);
	return c->id;
}

/* A thread's label: names may be equal, numbers are not. */
static uint32_t label_of(struct jprof_profile *profile, const struct jprof_dump_thread *t)
{
	char label[512];
	snprintf(label, sizeof label, "t%llu%s%.400s", (unsigned long long)t->id, *t->name ? " " : "", t->name);
	return jp_thread_label(profile, label);
}

/* Most stacks are no others', and have one sample of all threads. */
static int reserve_samples(struct dump_load *w)
{
	struct jprof_profile *p = w->profile;
	size_t stacks = w->dump->info.stacks;
	return jp_array_reserve(&p->stacks.items, &p->stacks.cap, stacks, sizeof *p->stacks.items) ||
	               jp_array_reserve(&p->samples.items, &p->samples.cap, stacks, sizeof *p->samples.items)
	           ? -1
	           : 0;
}

/* Those of the thread that is wanted, of each thread ("*"), or of all together (NULL). */
static int take_records(struct dump_load *w, const char *wanted)
{
	const struct jp_records *records = wanted ? &w->dump->per_thread : &w->dump->totals;
	bool each = wanted && !strcmp(wanted, "*");
	struct jp_record record = { 0 };
	struct stack_cursor cursor = { .id = JP_NONE };
	if (!wanted && reserve_samples(w))
		return -1;
	for (size_t at = 0; jp_records_next(records, &at, &record);) {
		const struct jprof_dump_thread *t = wanted ? &w->dump->threads[record.thread].pub : NULL;
		if (t && !each && !jp_is_thread(t->id, t->name, wanted))
			continue;
		uint32_t thread = each ? label_of(w->profile, t) : JP_NONE, label;
		uint32_t stack = stack_of_record(w, &cursor, record.stack);
		if (stack == JP_NONE || (each && thread == JP_NONE) ||
		    !jp_label_id(&w->profile->samples, (struct jp_label){ thread, cursor.epoch, cursor.tag, w->worker },
		                 &label) ||
		    jp_sample_count_in(&w->profile->samples, stack, label, record.count))
			return -1;
		jp_cut_count(&w->profile->cut, &w->profile->samples, record.count, w->cut[record.stack]);
	}
	return 0;
}

/* Samples of slots have no thread: with those of one thread there are none. */
static int add_slots(struct dump_load *w, const char *wanted)
{
	const struct jp_rubytable *table = w->ruby.any && !w->ruby.no_slots ? w->ruby.table : NULL;
	bool each = !wanted || !strcmp(wanted, "*");
	if (!table || !table->slot_rate || !each)
		return 0;
	return jp_moved_samples_divide(&w->ruby, w->worker) || jp_slot_samples_add(&w->ruby, w->worker) ? -1 : 0;
}

static int add_records(struct dump_load *w, const char *wanted)
{
	uint32_t count = jp_location_count(w->profile); /* Ruby's come later */
	w->returned_to = calloc((size_t)count + 1, sizeof *w->returned_to);
	int rc = w->returned_to ? take_records(w, wanted) : -1;
	for (uint32_t i = 0; !rc && i < count; i++)
		w->profile->locations[i].returned_to = w->returned_to[i];
	free(w->returned_to);
	return rc;
}

/* ---- the whole ------------------------------------------------------------------------------- */

/* Puts locations in the place of the addresses. */
static int make_locations(struct dump_load *w, const struct jprof_maps *maps)
{
	struct jprof_profile *p = w->profile;
	size_t count = w->dump->info.addresses;
	/* Most are places of their own. */
	if (jp_array_reserve(&p->locations, &p->location_cap, count, sizeof *p->locations))
		return -1;
	for (size_t i = 0; i < count; i++) {
		uint64_t address = w->location[i];
		uint32_t number = w->ruby.any ? jp_ruby_number(&w->ruby, address) : 0;
		w->location[i] = number ? number : jp_build_location(p, maps, address);
		if (number)
			continue;
		if (w->location[i] == JP_NONE || name_location(w, address, (uint32_t)w->location[i]))
			return -1;
	}
	return 0;
}

/* The frames become the profile's stacks, where they lie if they may be taken. */
static int make_places(struct dump_load *w)
{
	size_t count = w->dump->frame_count;
	w->places = w->taken ? w->taken->frames : malloc((count + 1) * sizeof *w->places);
	if (!w->places && count)
		return -1;
	for (size_t i = 0; i < count; i++)
		w->places[i] = (uint32_t)w->location[w->dump->frames[i]];
	if (w->taken)
		w->taken->frames = NULL;
	w->profile->stacks.owned = w->places;
	return 0;
}

static int fill_from_dump(struct dump_load *w, const struct jprof_maps *maps, const struct jprof_profile_opts *opts)
{
	w->profile->samples.scaling = w->dump->scaling;
	w->profile->samples.rate = w->dump->info.rate;
	size_t count = w->dump->info.addresses;
	int rc = jp_ruby_load_init(&w->ruby, w->profile, w->dump, maps);
	w->ruby.no_slots = opts->heap == JPROF_HEAP_MALLOC;
	w->location = w->taken ? w->taken->addresses : malloc((count + 1) * sizeof *w->location);
	if (!w->taken && w->location && count)
		memcpy(w->location, w->dump->addresses, count * sizeof *w->location);
	if (!w->location && count)
		rc = -1;
	if (!rc)
		rc = jp_build_mappings(w->profile, maps);
	if (!rc)
		rc = make_locations(w, maps);
	if (!rc)
		rc = take_given_files(w);
	if (!rc)
		rc = make_places(w);
	if (w->taken)
		jp_dump_drop_addresses(w->taken);
	else
		free(w->location);
	if (!rc)
		rc = w->dump->allocator.known ? jp_build_given_allocator(w->profile, w->dump) : vote_allocator(w);
	if (!rc && !(w->cut = jp_cut_stacks(w->dump, w->places, &w->ruby, jp_location_count(w->profile))))
		rc = -1;
	if (!rc && opts->heap != JPROF_HEAP_SLOTS)
		rc = add_records(w, opts->thread);
	if (!rc)
		rc = add_slots(w, opts->thread);
	free(w->cut);
	if (!rc)
		rc = jp_ruby_note(&w->ruby, w->dump);
	jp_ruby_load_release(&w->ruby);
	return rc;
}

static bool has_thread(const struct jprof_dump *dump, const char *wanted)
{
	for (size_t i = 0; i < dump->info.threads; i++)
		if (jp_is_thread(dump->threads[i].pub.id, dump->threads[i].pub.name, wanted))
			return true;
	return !strcmp(wanted, "*");
}

int jp_profile_from_dump(const struct jprof_dump *dump, struct jprof_dump *taken,
                         const struct jprof_profile_opts *given, struct jprof_profile **out, struct jprof_error *err)
{
	struct jprof_profile_opts opts;
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	if (rc)
		return rc;
	if ((unsigned)opts.heap > JPROF_HEAP_SLOTS)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "heap %d does not exist", (int)opts.heap);
	if (dump->taken)
		return jp_error(err, JPROF_E_ARGUMENT, dump->name, 0,
		                "its stacks were taken by another profile; open the dump again");
	if (opts.thread && !has_thread(dump, opts.thread))
		return jp_advise(err, JPROF_ADVICE_THREAD,
		                 jp_error(err, JPROF_E_ARGUMENT, dump->name, 0, "has no thread %s", opts.thread));
	struct dump_load w = { .dump = dump, .taken = taken, .profile = jp_profile_empty(), .worker = JP_NONE };
	bool worker = opts.worker && strcmp(opts.worker, "*") != 0; /* of no bundle: there is no other */
	if (!w.profile || (worker && (w.worker = jp_intern_str(&w.profile->strings, opts.worker)) == JP_NONE) ||
	    fill_from_dump(&w, opts.maps ? opts.maps : dump->maps, &opts) ||
	    jp_profile_set_input(w.profile, dump->name) || jp_profile_set_thread(w.profile, opts.thread)) {
		jprof_profile_free(w.profile);
		rc = jp_error_nomem(err);
	}
	if (taken) {
		jp_dump_drop_stacks(taken);
		taken->taken = true;
	}
	if (rc)
		return rc;
	w.profile->mtime = w.profile->first_mtime = dump->mtime;
	w.profile->rate = dump->info.rate;
	w.profile->lineage.rate = dump->scaling == JP_SCALE_POISSON ? (double)dump->info.rate : 0;
	w.profile->info = (struct jprof_profile_info){
		.format = dump->info.format,
		.rate = dump->info.rate,
		.stacks = dump->info.stacks,
		.addresses = dump->info.addresses,
		.depth = dump->info.depth,
		.inputs = 1,
		.members = "",
		.has_alloc = dump->info.has_alloc,
	};
	jp_ruby_describe(&w.ruby, &w.profile->info);
	*out = w.profile;
	return 0;
}

int jprof_profile_new(const struct jprof_dump *dump, const struct jprof_profile_opts *opts,
                      struct jprof_profile **profile, struct jprof_error *err)
{
	return jp_null(err, dump, profile) ? JPROF_E_ARGUMENT : jp_profile_from_dump(dump, NULL, opts, profile, err);
}

int jprof_profile_take(struct jprof_dump *dump, const struct jprof_profile_opts *opts, struct jprof_profile **profile,
                       struct jprof_error *err)
{
	return jp_null(err, dump, profile) ? JPROF_E_ARGUMENT : jp_profile_from_dump(dump, dump, opts, profile, err);
}

/* The first warning in full: the others are mostly of its kind. */
int jp_note_warnings(struct jprof_profile *profile, const struct jprof_dump *dump,
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
	return dump->warning_count == 1 ? 0
	                                : jp_note(profile, "%s: %zu more warning%s like this", dump->name,
	                                          dump->warning_count - 1, dump->warning_count > 2 ? "s" : "");
}
