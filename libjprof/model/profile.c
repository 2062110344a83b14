#include "model/profile.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "statistics/scaling.h"

struct object_key {
	uint32_t path;
	uint32_t kind;
	uint32_t image;
	uint32_t build_id; /* JP_NONE for the first build of a path, and where none is known */
};

/* ---- what makes equal things the same ---------------------------------------------------------- */

static uint64_t hash_location(uint64_t seed, const void *item)
{
	const struct jp_location *l = item;
	uint64_t h = jp_hash_mix(seed, l->object);
	return jp_hash_mix(jp_hash_mix(h, l->offset), l->variant);
}

static bool same_location(const void *a, const void *b)
{
	const struct jp_location *x = a, *y = b;
	return x->offset == y->offset && x->object == y->object && x->variant == y->variant;
}

static uint64_t hash_function(uint64_t seed, const void *item)
{
	return jp_hash(seed, item, sizeof(struct jp_function));
}

static bool same_function(const void *a, const void *b)
{
	return !memcmp(a, b, sizeof(struct jp_function));
}

static const struct jp_index_kind location_kind = { sizeof(struct jp_location), hash_location, same_location };
static const struct jp_index_kind function_kind = { sizeof(struct jp_function), hash_function, same_function };

uint32_t jp_object_count(const struct jprof_profile *profile)
{
	return profile->object_keys.count;
}

uint32_t jp_location_count(const struct jprof_profile *profile)
{
	return profile->location_ids.count;
}

uint32_t jp_function_count(const struct jprof_profile *profile)
{
	return profile->function_ids.count;
}

uint32_t jp_sample_count(const struct jprof_profile *profile)
{
	return profile->samples.ids.count;
}

const char *jp_string(const struct jprof_profile *profile, uint32_t id)
{
	return id == JP_NONE ? "" : jp_intern_get(&profile->strings, id);
}

size_t jp_stem_length(const char *basename)
{
	const char *so = strstr(basename, ".so");
	while (so && so[3] && so[3] != '.' && so[3] != ' ')
		so = strstr(so + 1, ".so");
	return so && so > basename ? (size_t)(so - basename) : strlen(basename);
}

bool jp_is_ruby_file(const char *path)
{
	const char *base = jp_basename(path);
	return !strncmp(base, "libruby", 7) ||
	       (!strncmp(base, "ruby", 4) && !base[4 + strspn(base + 4, "0123456789.-")]);
}

static struct object_key object_key_of(const struct jp_object *like, uint32_t build_id)
{
	return (struct object_key){ like->path, like->unmapped ? UINT32_MAX : (uint32_t)like->kind, like->image,
		                    build_id };
}

uint32_t jp_object_find(const struct jprof_profile *profile, const struct jp_object *like, uint32_t build_id)
{
	struct object_key key = object_key_of(like, build_id);
	return jp_intern_find(&profile->object_keys, &key, sizeof key);
}

static uint32_t object_add(struct jprof_profile *profile, const struct jp_object *like, uint32_t build_id)
{
	struct object_key key = object_key_of(like, build_id);
	uint32_t known = jp_object_count(profile), id = jp_intern(&profile->object_keys, &key, sizeof key);
	if (id != known || id == JP_NONE)
		return id;
	if (jp_array_reserve(&profile->objects, &profile->object_cap, (size_t)id + 1, sizeof *profile->objects))
		return JP_NONE;
	profile->objects[id] = *like;
	struct jp_object *o = &profile->objects[id];
	o->entry_prefix = o->build_id = o->reason = o->unproven_id = o->refused_id = o->file = o->file_root = JP_NONE;
	o->bundled = o->judged = false;
	return id;
}

void jp_profile_undo_adding(struct jprof_profile *p, const struct jprof_profile *was)
{
	jp_intern_cut(&p->strings, was->strings.count);
	jp_intern_cut(&p->object_keys, was->object_keys.count);
	jp_intern_cut(&p->directories, was->directories.count);
	jp_intern_cut(&p->gems, was->gems.count);
	jp_stack_cut(&p->stacks, was->stacks.ids.count);
	jp_intern_cut(&p->variant_keys, was->variant_keys.count);
	jp_intern_cut(&p->mapping_keys, was->mapping_keys.count);
	jp_index_cut(&p->location_ids, &location_kind, p->locations, was->location_ids.count);
	jp_index_cut(&p->function_ids, &function_kind, p->functions, was->function_ids.count);
	jp_samples_cut(&p->samples, &was->samples);
	jp_epochs_cut(&p->epochs, &was->epochs);
	jp_intern_cut(&p->tags, was->tags.count);
	while (p->note_count > was->note_count)
		free(p->notes[--p->note_count]);
	p->frame_count = was->frame_count;
	p->thread_count = was->thread_count;
	p->mapping_count = was->mapping_count;
	p->mapping_indexed = was->mapping_indexed;
	p->input_count = was->input_count;
	p->identity_count = was->identity_count;
	memcpy(p->strange, was->strange, sizeof p->strange);
	p->base_input = was->base_input;
}

uint32_t jp_object_id(struct jprof_profile *profile, const struct jp_object *like)
{
	return object_add(profile, like, JP_NONE);
}

uint32_t jp_object_built(struct jprof_profile *profile, const struct jp_object *like, uint32_t build_id)
{
	uint32_t id = jp_object_id(profile, like);
	if (id == JP_NONE || build_id == JP_NONE || profile->objects[id].build_id == build_id)
		return id;
	if (profile->objects[id].build_id != JP_NONE)
		id = object_add(profile, like, build_id);
	if (id != JP_NONE)
		profile->objects[id].build_id = build_id;
	return id;
}

static uint32_t location_add(struct jprof_profile *profile, const struct jp_location *like)
{
	bool known;
	if (jp_array_push(profile->locations, jp_location_count(profile), profile->location_cap))
		return JP_NONE;
	uint32_t id = jp_index_id(&profile->location_ids, &location_kind, profile->locations, like, &known);
	if (id != JP_NONE && !known)
		profile->locations[id] = *like;
	return id;
}

uint32_t jp_location_id(struct jprof_profile *profile, uint32_t object, uint64_t offset, uint64_t address)
{
	struct jp_location like = { .object = object, .offset = offset, .address = address };
	return location_add(profile, &like);
}

static bool has_frames(const struct jprof_profile *profile, const struct jp_location *l, const struct jp_frame *frames,
                       size_t count)
{
	bool same = l->frame_count == count;
	for (size_t i = 0; same && i < count; i++) {
		const struct jp_frame *f = &profile->frames[l->frame_first + i];
		same =
		    f->function == frames[i].function && f->line == frames[i].line && f->inlined == frames[i].inlined;
	}
	return same;
}

static int give_frames(struct jprof_profile *profile, uint32_t location, const struct jp_frame *frames, size_t count,
                       enum jprof_source source)
{
	profile->locations[location].source = source;
	profile->locations[location].given = true;
	for (size_t i = 0; i < count; i++)
		if (jp_frame_add(profile, location, frames[i].function, frames[i].line, frames[i].inlined))
			return -1;
	return 0;
}

/* A number from 1 on that stands for these frames; 0 when memory is short. */
static uint32_t variant_of(struct jprof_profile *profile, const struct jp_frame *frames, size_t count)
{
	uint32_t *words = calloc(count + 1, 3 * sizeof *words);
	for (size_t i = 0; words && i < count; i++) {
		words[3 * i] = frames[i].function;
		words[3 * i + 1] = frames[i].line;
		words[3 * i + 2] = frames[i].inlined;
	}
	uint32_t id = words ? jp_intern(&profile->variant_keys, words, count * 3 * sizeof *words) : JP_NONE;
	free(words);
	return id + 1;
}

uint32_t jp_location_named(struct jprof_profile *profile, uint32_t object, uint64_t offset, uint64_t address,
                           const struct jp_frame *frames, size_t count, enum jprof_source source)
{
	uint32_t id = jp_location_id(profile, object, offset, address);
	if (id == JP_NONE || !count || has_frames(profile, &profile->locations[id], frames, count))
		return id;
	if (profile->locations[id].frame_count) {
		struct jp_location like = { .object = object, .offset = offset, .address = address };
		like.variant = variant_of(profile, frames, count);
		id = like.variant ? location_add(profile, &like) : JP_NONE;
	}
	if (id == JP_NONE || profile->locations[id].frame_count)
		return id;
	return give_frames(profile, id, frames, count, source) ? JP_NONE : id;
}

uint64_t jp_location_vaddr(const struct jprof_profile *profile, uint32_t location)
{
	return location < profile->vaddr_count ? profile->vaddrs[location] : 0;
}

int jp_location_set_vaddr(struct jprof_profile *profile, uint32_t location, uint64_t vaddr)
{
	size_t before = profile->vaddr_count;
	if (location >= before && vaddr) {
		if (jp_array_reserve(&profile->vaddrs, &profile->vaddr_count, jp_location_count(profile),
		                     sizeof *profile->vaddrs))
			return -1;
		memset(profile->vaddrs + before, 0, (profile->vaddr_count - before) * sizeof *profile->vaddrs);
	}
	if (location < profile->vaddr_count)
		profile->vaddrs[location] = vaddr;
	return 0;
}

int jp_location_bundled(struct jprof_profile *profile, uint32_t location, const struct jp_location *like,
                        uint64_t vaddr, const struct jp_frame *frames, size_t count)
{
	struct jp_location *l = &profile->locations[location];
	if ((l->given && l->source >= JPROF_SOURCE_INPUT) || (l->bundled && l->source >= like->source))
		return 0;
	if (jp_location_set_vaddr(profile, location, vaddr))
		return -1;
	l->bundled = true;
	l->source = like->source;
	l->wrapper = like->wrapper;
	l->frame_count = 0;
	for (size_t i = 0; i < count; i++)
		if (jp_frame_add(profile, location, frames[i].function, frames[i].line, frames[i].inlined))
			return -1;
	return 0;
}

uint32_t jp_function_id(struct jprof_profile *profile, const struct jp_function *function)
{
	bool known;
	if (jp_array_push(profile->functions, jp_function_count(profile), profile->function_cap))
		return JP_NONE;
	uint32_t id = jp_index_id(&profile->function_ids, &function_kind, profile->functions, function, &known);
	if (id != JP_NONE)
		profile->functions[id] = *function;
	return id;
}

uint32_t jp_function_named(struct jprof_profile *profile, const char *name, const char *brief, const char *system,
                           const char *file)
{
	struct jp_intern *strings = &profile->strings;
	struct jp_function f = { jp_intern_str(strings, name), jp_intern_str(strings, brief),
		                 jp_intern_str(strings, system), file ? jp_intern_str(strings, file) : JP_NONE };
	if (f.name == JP_NONE || f.brief == JP_NONE || f.system == JP_NONE || (file && f.file == JP_NONE))
		return JP_NONE;
	return jp_function_id(profile, &f);
}

int jp_frame_add(struct jprof_profile *profile, uint32_t location, uint32_t function, unsigned line, bool inlined)
{
	struct jp_location *l = &profile->locations[location];
	if (function == JP_NONE || l->frame_count == jp_most_frames ||
	    jp_array_push(profile->frames, profile->frame_count, profile->frame_cap))
		return -1;
	if (!l->frame_count)
		l->frame_first = (uint32_t)profile->frame_count;
	profile->frames[profile->frame_count++] = (struct jp_frame){ function, line, inlined };
	l->frame_count++;
	return 0;
}

int jp_sample_add(struct jprof_profile *p, const uint32_t *stack, size_t depth, struct jp_label of,
                  const struct jp_values *like, double factor)
{
	uint32_t label, id = jp_stack_id(&p->stacks, stack, depth);
	if (!jp_label_id(&p->samples, of, &label))
		return -1;
	struct jp_sample *sample = jp_sample_make(&p->samples, id, label, NULL);
	struct jp_values *sum = sample ? jp_sample_sum(&p->samples, sample) : NULL;
	return sum ? jp_values_add(&p->samples, sum, like, factor) : -1;
}

uint32_t jp_sample_thread(const struct jprof_profile *profile, const struct jp_sample *sample)
{
	return jp_sample_label(&profile->samples, sample).thread;
}

bool jp_sample_is_open(const struct jprof_profile *profile, const struct jp_sample *sample)
{
	uint32_t epoch = jp_sample_label(&profile->samples, sample).epoch;
	return profile->lineage.subtracted && (epoch == JP_NONE || profile->epochs.items[epoch].open);
}

bool jp_has_split_stacks(const struct jprof_profile *profile)
{
	return profile->epochs.ids.count > 1 || profile->tags.count;
}

const uint32_t *jp_stack_get(const struct jprof_profile *profile, uint32_t stack, size_t *depth)
{
	*depth = profile->stacks.items[stack].depth;
	return profile->stacks.items[stack].places;
}

void jp_profile_rest(struct jprof_profile *profile)
{
	jp_index_rest(&profile->location_ids);
	jp_index_rest(&profile->function_ids);
	jp_index_rest(&profile->stacks.ids);
	jp_index_rest(&profile->samples.ids);
}

int jp_note_advised(struct jprof_profile *profile, const char *text, enum jprof_advice advice)
{
	struct jp_strbuf note = { 0 };
	jp_strbuf_visible(&note, text);
	for (size_t i = 0; note.text && i < profile->note_count; i++)
		if (!strcmp(profile->notes[i], note.text)) {
			jp_strbuf_release(&note);
			return 0;
		}
	if (note.failed || !note.text || jp_array_push(profile->notes, profile->note_count, profile->note_cap) ||
	    jp_array_push(profile->note_advice, profile->note_count, profile->note_advice_cap)) {
		jp_strbuf_release(&note);
		return -1;
	}
	profile->note_advice[profile->note_count] = advice;
	profile->notes[profile->note_count++] = note.text;
	return 0;
}

int jp_note(struct jprof_profile *profile, const char *fmt, ...)
{
	char text[1024];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	return jp_note_advised(profile, text, JPROF_ADVICE_NONE);
}

int jp_profile_set_thread(struct jprof_profile *profile, const char *thread)
{
	profile->thread = thread ? strdup(thread) : NULL;
	return thread && !profile->thread ? -1 : 0;
}

int jp_profile_set_input(struct jprof_profile *profile, const char *name)
{
	uint32_t id = jp_intern_str(&profile->strings, strcmp(name, "<stdin>") ? name : "-");
	profile->input_count = 0;
	if (id == JP_NONE || jp_array_push(profile->inputs, profile->input_count, profile->input_cap))
		return -1;
	profile->inputs[profile->input_count++] = id;
	return 0;
}

struct jprof_profile *jp_profile_empty(void)
{
	struct jprof_profile *profile = calloc(1, sizeof *profile);
	if (profile) {
		profile->allocator_hint = profile->debug_root = profile->debug_dirs = profile->debug_files = JP_NONE;
		profile->base_input = profile->outside_ruby = JP_NONE;
		profile->info.members = profile->info.format = "";
	}
	return profile;
}

double jprof_profile_total(const struct jprof_profile *profile, enum jprof_counter counter)
{
	double sum = 0;
	if (!profile || !jp_is_counter(counter))
		return NAN;
	for (uint32_t i = 0; i < jp_sample_count(profile); i++)
		sum += jprof_profile_value(profile, i, counter);
	return sum;
}

const struct jprof_profile_info *jprof_profile_info(const struct jprof_profile *profile)
{
	return profile ? &profile->info : NULL;
}

double jprof_profile_thread_total(const struct jprof_profile *profile, enum jprof_counter counter, const char *thread)
{
	double sum = 0;
	if (!profile || !thread || !jp_is_counter(counter))
		return NAN;
	for (uint32_t i = 0; i < jp_sample_count(profile); i++)
		if (!strcmp(jp_string(profile, jp_sample_thread(profile, &profile->samples.items[i])), thread))
			sum += jprof_profile_value(profile, i, counter);
	return sum;
}

/* Numbers in labels count as numbers: t2 comes before t10. */
static int compare_labels(const char *a, const char *b)
{
	unsigned long long x = strtoull(a + (*a == 't'), NULL, 10), y = strtoull(b + (*b == 't'), NULL, 10);
	if (*a == 't' && *b == 't' && x != y)
		return x < y ? -1 : 1;
	return strcmp(a, b);
}

uint32_t jp_thread_label(struct jprof_profile *p, const char *label)
{
	uint32_t id = jp_intern_str(&p->strings, label);
	size_t at = 0;
	while (at < p->thread_count && compare_labels(jp_string(p, p->threads[at]), label) < 0)
		at++;
	if (id == JP_NONE || (at < p->thread_count && p->threads[at] == id))
		return id;
	if (jp_array_push(p->threads, p->thread_count, p->thread_cap))
		return JP_NONE;
	memmove(p->threads + at + 1, p->threads + at, (p->thread_count - at) * sizeof *p->threads);
	p->threads[at] = id;
	p->thread_count++;
	return id;
}

size_t jprof_profile_threads(const struct jprof_profile *profile)
{
	return profile ? profile->thread_count : 0;
}

const char *jprof_profile_thread(const struct jprof_profile *profile, size_t i)
{
	return profile && i < profile->thread_count ? jp_string(profile, profile->threads[i]) : NULL;
}

double jprof_profile_cut(const struct jprof_profile *profile, enum jprof_counter counter)
{
	if (!profile || !jp_is_counter(counter) || !(profile->cut.all[counter] > 0))
		return 0;
	return profile->cut.cut[counter] / profile->cut.all[counter];
}

void jprof_profile_outside(const struct jprof_profile *profile, bool base, struct jprof_outside *outside)
{
	static const struct jp_process_sums none;
	if (!outside)
		return;
	*outside = jp_outside_figures(!profile ? &none : base ? &profile->outside.base : &profile->outside.now);
	outside->related = profile && profile->lineage.shared_sum;
}

double jprof_profile_figure(const struct jprof_profile *profile, bool base, enum jprof_figure figure)
{
	if (!profile || (unsigned)figure >= JPROF_FIGURES)
		return NAN;
	const struct jp_process_sums *sums = base ? &profile->outside.base : &profile->outside.now;
	return jp_known_bytes(&sums->figures.of[figure], sums->processes);
}

void jprof_profile_settings(const struct jprof_profile *profile, struct jprof_settings *settings)
{
	static const struct jprof_settings none = { .dirty_decay_ms = -2 };
	if (settings)
		*settings = profile && profile->outside.now.figures.settings.known
		                ? profile->outside.now.figures.settings
		                : none;
}

void jprof_profile_group(const struct jprof_profile *profile, struct jprof_group *group)
{
	static const struct jprof_group none = { false, NAN, NAN, NAN, NAN };
	if (group)
		*group =
		    profile && profile->outside.now.figures.group.known ? profile->outside.now.figures.group : none;
}

int64_t jprof_profile_time(const struct jprof_profile *profile)
{
	return profile ? (int64_t)profile->mtime : 0;
}

size_t jprof_profile_objects(const struct jprof_profile *profile)
{
	return profile ? jp_object_count(profile) : 0;
}

const char *jprof_profile_object(const struct jprof_profile *profile, size_t i)
{
	return i < jprof_profile_objects(profile) ? jp_string(profile, profile->objects[i].path) : NULL;
}

size_t jprof_profile_tags(const struct jprof_profile *profile)
{
	return profile ? profile->tags.count : 0;
}

size_t jprof_profile_notes(const struct jprof_profile *profile)
{
	return profile ? profile->note_count : 0;
}

const char *jprof_profile_note(const struct jprof_profile *profile, size_t i)
{
	return profile && i < profile->note_count ? profile->notes[i] : NULL;
}

enum jprof_advice jprof_profile_note_advice(const struct jprof_profile *profile, size_t i)
{
	return profile && i < profile->note_count ? profile->note_advice[i] : JPROF_ADVICE_NONE;
}

void jprof_profile_free(struct jprof_profile *profile)
{
	if (!profile)
		return;
	jp_intern_release(&profile->strings);
	jp_intern_release(&profile->object_keys);
	jp_intern_release(&profile->directories);
	jp_intern_release(&profile->gems);
	jp_index_release(&profile->location_ids);
	jp_index_release(&profile->function_ids);
	jp_stack_table_release(&profile->stacks);
	jp_samples_release(&profile->samples);
	jp_epochs_release(&profile->epochs);
	jp_intern_release(&profile->tags);
	jp_intern_release(&profile->variant_keys);
	jp_intern_release(&profile->mapping_keys);
	free(profile->objects);
	free(profile->locations);
	free(profile->vaddrs);
	free(profile->functions);
	free(profile->frames);
	free(profile->mappings);
	free(profile->threads);
	for (size_t i = 0; i < profile->note_count; i++)
		free(profile->notes[i]);
	free(profile->notes);
	free(profile->note_advice);
	free(profile->members);
	free(profile->thread);
	free(profile->inputs);
	free(profile->identities);
	free(profile);
}
