/* From a profile.proto to the model. Places are known by mapping and address; where there are none, by
 * their names alone. What a profile that jprof wrote calls FILE!0xSTART or FILE+0xOFFSET has no name. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "input/pprof.h"
#include "model/build.h"
#include "model/fileproof.h"
#include "model/rubyframes.h"
#include "statistics/scaling.h"

/* Ids of messages are any numbers: tables turn them into indices. */
struct id_index {
	struct jp_intern keys;
	size_t *index; /* of an id's first message */
	size_t cap;
};

struct pprof_load {
	struct jp_pprof pprof;
	struct jprof_profile *profile;
	const char *name;
	const char *thread;
	struct jprof_error *err;
	int column[JPROF_COUNTERS]; /* of each counter among the sample types, -1: none */
	struct id_index mapping_ids, function_ids, location_ids;
	uint32_t *object;   /* of each mapping, JP_NONE: not needed yet */
	uint32_t *function; /* of each function, likewise */
	uint32_t *location; /* of each location, likewise */
	uint32_t *stack;    /* of the sample at hand */
	size_t stack_len, stack_cap;
	struct jp_frame *frames;
	size_t frame_cap;
	size_t samples, thread_seen, depth;
	uint32_t ruby;        /* the object of frames of Ruby that jprof wrote, or JP_NONE */
	bool own;             /* jprof wrote it, without the allocator's frames */
	bool difference;      /* some value is below zero */
	const char *fault;    /* what is wrong with the first faulty sample */
	uint64_t fault_value; /* the id or index that is wrong */
};

/* What the steps of a sample return beside 0: memory is short, or the sample is faulty. */
enum { NO_MEMORY = -1, FAULTY = 1 };

static int faulty(struct pprof_load *w, const char *what, uint64_t value)
{
	w->fault = what;
	w->fault_value = value;
	return FAULTY;
}

/* ---- ids ---------------------------------------------------------------------------------------- */

static int ids_add(struct id_index *ids, uint64_t id, size_t index)
{
	uint32_t known = ids->keys.count, key = jp_intern(&ids->keys, &id, sizeof id);
	if (key == JP_NONE || jp_array_reserve(&ids->index, &ids->cap, (size_t)key + 1, sizeof *ids->index))
		return -1;
	if (key == known)
		ids->index[key] = index;
	return 0;
}

/* The table is only asked for what it may have: a question adds nothing to it. */
static bool ids_find(const struct id_index *ids, uint64_t id, size_t *index)
{
	uint32_t key = jp_intern_find(&ids->keys, &id, sizeof id);
	if (key != JP_NONE)
		*index = ids->index[key];
	return key != JP_NONE;
}

static void ids_release(struct id_index *ids)
{
	jp_intern_release(&ids->keys);
	free(ids->index);
}

static int index_ids(struct pprof_load *w)
{
	const struct jp_pprof *p = &w->pprof;
	int rc = 0;
	for (size_t i = 0; !rc && i < p->mappings.count; i++)
		rc = ids_add(&w->mapping_ids, p->mappings.items[i].id, i);
	for (size_t i = 0; !rc && i < p->functions.count; i++)
		rc = ids_add(&w->function_ids, p->functions.items[i].id, i);
	for (size_t i = 0; !rc && i < p->locations.count; i++)
		rc = ids_add(&w->location_ids, p->locations.items[i].id, i);
	return rc;
}

/* ---- strings -------------------------------------------------------------------------------------- */

/* The id of a string of the file, without anything after a NUL. JP_NONE when memory is short. */
static int string_id(struct pprof_load *w, uint64_t index, uint32_t *id)
{
	struct jp_span s;
	if (!jp_pprof_string(&w->pprof, index, &s))
		return faulty(w, "names string", index);
	*id = jp_intern(&w->profile->strings, s.ptr, strnlen(s.ptr, s.len));
	return *id == JP_NONE ? NO_MEMORY : 0;
}

static bool string_is(const struct jp_pprof *p, uint64_t index, const char *text)
{
	struct jp_span s;
	return jp_pprof_string(p, index, &s) && s.len == strlen(text) && jp_span_starts(s, text);
}

/* ---- sample types ----------------------------------------------------------------------------------- */

static const struct {
	const char *type, *unit;
	enum jprof_counter counter;
} known_types[] = {
	{ "inuse_objects", "count", JPROF_INUSE_OBJECTS }, { "inuse_space", "bytes", JPROF_INUSE_SPACE },
	{ "alloc_objects", "count", JPROF_ALLOC_OBJECTS }, { "alloc_space", "bytes", JPROF_ALLOC_SPACE },
	{ "objects", "count", JPROF_INUSE_OBJECTS },       { "space", "bytes", JPROF_INUSE_SPACE },
	{ "bytes", "bytes", JPROF_INUSE_SPACE },
};

/* "cpu/nanoseconds, samples/count" */
static int refuse_types(struct pprof_load *w)
{
	const struct jp_pprof *p = &w->pprof;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) list = { 0 };
	for (size_t i = 0; i < p->types.count && i < 8; i++) {
		struct jp_span type, unit;
		jp_pprof_string(p, p->types.items[i].type_s, &type);
		jp_pprof_string(p, p->types.items[i].unit_s, &unit);
		jp_strbuf_printf(&list, "%s%.*s/%.*s", i ? ", " : "", (int)(type.len < 40 ? type.len : 40), type.ptr,
		                 (int)(unit.len < 40 ? unit.len : 40), unit.ptr);
	}
	return jp_error(w->err, JPROF_E_FORMAT, w->name, 0,
	                "holds %s, and no memory: jprof reads inuse_objects, inuse_space, alloc_objects, alloc_space, "
	                "or objects, space, or bytes",
	                list.text && list.len ? list.text : "no sample types");
}

static int choose_types(struct pprof_load *w)
{
	const struct jp_pprof *p = &w->pprof;
	bool any = false;
	for (int c = 0; c < JPROF_COUNTERS; c++)
		w->column[c] = -1;
	for (size_t k = 0; k < jp_count(known_types); k++)
		for (size_t i = 0; i < p->types.count && i < INT32_MAX; i++) {
			int *column = &w->column[known_types[k].counter];
			if (*column < 0 && string_is(p, p->types.items[i].type_s, known_types[k].type) &&
			    string_is(p, p->types.items[i].unit_s, known_types[k].unit)) {
				*column = (int)i;
				any = true;
			}
		}
	return any ? 0 : refuse_types(w);
}

/* ---- mappings ---------------------------------------------------------------------------------------- */

/* A mapping of everything is a producer's way to say that addresses are those of the object file. */
static bool is_image(const struct jp_pprof_mapping *m)
{
	return !m->start && (!m->limit || m->limit == UINT64_MAX);
}

static int object_of_mapping(struct pprof_load *w, const struct jp_pprof_mapping *m, uint32_t *object)
{
	struct jp_object like = { .image = is_image(m) };
	uint32_t build_id = JP_NONE;
	char anon[jp_anon_path_size];
	int rc = string_id(w, m->file_s, &like.path);
	if (!rc && m->build_id_s)
		rc = string_id(w, m->build_id_s, &build_id);
	if (rc)
		return rc;
	const char *path = jp_string(w->profile, like.path);
	if (w->own && jp_is_ruby_object(path)) {
		*object = w->ruby = jp_ruby_object(w->profile);
		return *object == JP_NONE || jp_ruby_outside(w->profile, *object) ? NO_MEMORY : 0;
	}
	like.kind = jp_object_kind_of(path);
	if (!*path) {
		like.kind = JP_MAP_ANON;
		jp_anon_path(anon, m->start);
		like.path = jp_intern_str(&w->profile->strings, anon);
		if (like.path == JP_NONE)
			return NO_MEMORY;
	}
	if (build_id != JP_NONE && !*jp_string(w->profile, build_id))
		build_id = JP_NONE;
	*object = jp_object_built(w->profile, &like, build_id);
	return *object == JP_NONE ? NO_MEMORY : 0;
}

/* Mappings that tell where the file was are kept: they show whether a file on disk is the one that ran. */
static int take_mappings(struct pprof_load *w)
{
	for (size_t i = 0; i < w->pprof.mappings.count; i++) {
		const struct jp_pprof_mapping *m = &w->pprof.mappings.items[i];
		struct jprof_map map = {
			.start = m->start, .limit = m->limit, .offset = m->offset, .readable = true, .executable = true
		};
		int rc = object_of_mapping(w, m, &w->object[i]);
		if (rc == NO_MEMORY)
			return rc;
		if (rc)
			w->object[i] = JP_NONE;
		else if (!is_image(m) && m->start < m->limit && jp_build_mapping(w->profile, &map, w->object[i]))
			return NO_MEMORY;
	}
	return 0;
}

/* Comments in which jprof says what the names of files are worth. */
static int take_comments(struct pprof_load *w)
{
	const struct jp_pprof *p = &w->pprof;
	struct jp_span comment;
	for (size_t i = 0; w->own && i < p->comments.count; i++)
		if (jp_pprof_string(p, p->comments.items[i], &comment) && jp_span_text(&comment, JP_FILEPROOF_BEGIN) &&
		    jp_fileproof_take(w->profile, comment, false))
			return NO_MEMORY;
	return 0;
}

/* ---- functions and frames ------------------------------------------------------------------------------- */

static int function_of_id(struct pprof_load *w, uint64_t id, uint32_t *function)
{
	size_t i;
	uint32_t name, system, file;
	if (!ids_find(&w->function_ids, id, &i))
		return faulty(w, "names function", id);
	if (w->function[i] == JP_NONE) {
		const struct jp_pprof_function *f = &w->pprof.functions.items[i];
		int rc = string_id(w, f->name_s, &name);
		if (!rc)
			rc = string_id(w, f->system_s, &system);
		if (!rc)
			rc = string_id(w, f->file_s, &file);
		if (rc)
			return rc;
		const struct jprof_profile *p = w->profile;
		const char *linker = jp_string(p, *jp_string(p, system) ? system : name);
		w->function[i] = jp_build_function(w->profile, jp_string(p, name), linker, jp_string(p, file));
	}
	*function = w->function[i];
	return *function == JP_NONE ? NO_MEMORY : 0;
}

static int frames_of(struct pprof_load *w, const struct jp_pprof_location *l, size_t *count)
{
	*count = 0;
	if (jp_array_reserve(&w->frames, &w->frame_cap, l->line_count + 1, sizeof *w->frames))
		return NO_MEMORY;
	for (size_t i = 0; i < l->line_count; i++) {
		const struct jp_pprof_line *line = &w->pprof.lines.items[l->line_first + i];
		uint32_t function;
		int rc = line->function ? function_of_id(w, line->function, &function) : 0;
		if (rc)
			return rc;
		if (!line->function || !*jp_string(w->profile, w->profile->functions[function].name))
			continue;
		bool inlined = i + 1 < l->line_count;
		uint32_t number = line->line > 0 && line->line <= UINT32_MAX ? (uint32_t)line->line : 0;
		w->frames[(*count)++] = (struct jp_frame){ function, number, inlined };
	}
	return 0;
}

/* ---- locations ------------------------------------------------------------------------------------------- */

/* Where it lies: an object and an offset in it. */
static int place_of_location(struct pprof_load *w, const struct jp_pprof_location *l, size_t count, uint32_t *object,
                             uint64_t *offset)
{
	size_t i;
	*offset = l->address;
	if (w->ruby != JP_NONE && l->mapping && ids_find(&w->mapping_ids, l->mapping, &i) && w->object[i] == w->ruby) {
		*object = w->ruby;
		return 0;
	}
	if (!l->address && count) {
		*object = jp_build_nowhere(w->profile, w->frames, count, offset);
		return *object == JP_NONE ? NO_MEMORY : 0;
	}
	if (!l->mapping) {
		*object = jp_build_object(w->profile, NULL);
		return *object == JP_NONE ? NO_MEMORY : 0;
	}
	if (!ids_find(&w->mapping_ids, l->mapping, &i) || w->object[i] == JP_NONE)
		return faulty(w, "names mapping", l->mapping);
	const struct jp_pprof_mapping *m = &w->pprof.mappings.items[i];
	*object = w->object[i];
	if (!is_image(m))
		*offset = l->address - m->start + m->offset;
	return 0;
}

/* Of the only frame at hand. */
static uint32_t ruby_location(struct pprof_load *w)
{
	const struct jprof_profile *p = w->profile;
	const struct jp_function *f = &p->functions[w->frames[0].function];
	return jp_ruby_place(w->profile, w->ruby, jp_string(p, f->name), jp_string(p, f->system),
	                     f->file == JP_NONE ? NULL : jp_string(p, f->file), w->frames[0].line);
}

static int location_of_id(struct pprof_load *w, uint64_t id, uint32_t *location)
{
	size_t i, count;
	uint32_t object;
	uint64_t offset;
	if (!ids_find(&w->location_ids, id, &i))
		return faulty(w, "names location", id);
	if (w->location[i] == JP_NONE) {
		const struct jp_pprof_location *l = &w->pprof.locations.items[i];
		int rc = frames_of(w, l, &count);
		if (!rc)
			rc = place_of_location(w, l, count, &object, &offset);
		if (rc)
			return rc;
		enum jprof_source source =
		    count ? jp_build_source(w->profile, object, w->frames, count) : JPROF_SOURCE_NONE;
		w->location[i] =
		    object != JP_NONE && object == w->ruby && count == 1
			? ruby_location(w)
			: jp_location_named(w->profile, object, offset, l->address, w->frames, count, source);
	}
	*location = w->location[i];
	return *location == JP_NONE ? NO_MEMORY : 0;
}

/* ---- samples ------------------------------------------------------------------------------------------------ */

static const struct jp_pprof_label *find_label(const struct pprof_load *w, const struct jp_pprof_sample *s,
                                               const char *key)
{
	for (size_t i = 0; i < s->label_count; i++)
		if (string_is(&w->pprof, w->pprof.labels.items[s->label_first + i].key_s, key))
			return &w->pprof.labels.items[s->label_first + i];
	return NULL;
}

/* The text of the label "thread", or "tN" where it is a number; "" if there is none. */
static int thread_label(struct pprof_load *w, const struct jp_pprof_sample *s, uint32_t *label)
{
	const struct jp_pprof_label *l = find_label(w, s, "thread");
	char number[32];
	*label = JP_NONE;
	if (!l || l->str_s)
		return l ? string_id(w, l->str_s, label) : 0;
	snprintf(number, sizeof number, "t%lld", (long long)l->num);
	*label = jp_intern_str(&w->profile->strings, number);
	return *label == JP_NONE ? NO_MEMORY : 0;
}

/* A label is a name, or as jprof writes it, "tN" or "tN NAME". */
static bool is_thread(const char *label, const char *wanted)
{
	char *end;
	if (!strcmp(label, wanted))
		return true;
	if (*label != 't' || label[1] < '0' || label[1] > '9')
		return false;
	unsigned long long id = strtoull(label + 1, &end, 10);
	return jp_is_thread(id, *end == ' ' ? end + 1 : NULL, wanted);
}

/* `wanted` tells whether the sample is asked for. */
static int thread_of(struct pprof_load *w, const struct jp_pprof_sample *s, uint32_t *thread, bool *wanted)
{
	bool all = w->thread && !strcmp(w->thread, "*");
	uint32_t label;
	int rc = thread_label(w, s, &label);
	if (rc)
		return rc;
	const char *text = jp_string(w->profile, label);
	*wanted = !w->thread || all || is_thread(text, w->thread);
	*thread = all && *text ? jp_thread_label(w->profile, text) : JP_NONE;
	w->thread_seen += *wanted;
	return all && *text && *thread == JP_NONE ? NO_MEMORY : 0;
}

/* The label "tag", whose kind is the label "tag_kind". */
static int tag_of(struct pprof_load *w, const struct jp_pprof_sample *s, uint32_t *tag)
{
	const struct jp_pprof_label *of = find_label(w, s, "tag"), *kind = find_label(w, s, "tag_kind");
	enum jp_tag_kind known = kind && string_is(&w->pprof, kind->str_s, "route") ? JP_TAG_ROUTE
	                         : kind && string_is(&w->pprof, kind->str_s, "job") ? JP_TAG_JOB
	                                                                            : JP_TAG_PLAIN;
	uint32_t text = JP_NONE;
	int rc = of && of->str_s ? string_id(w, of->str_s, &text) : 0;
	if (!rc && *jp_string(w->profile, text))
		*tag = jp_tag_id(&w->profile->tags, known, jp_string(w->profile, text));
	return rc || *tag != JP_NONE || !*jp_string(w->profile, text) ? rc : NO_MEMORY;
}

/* The file has estimates. Their mean size tells the probability of being sampled, and so the counters
 * that they were made from. In a difference that is lost. */
static void guess_seen(const struct pprof_load *w, struct jp_values *sample)
{
	double rate = (double)w->profile->rate;
	for (unsigned first = 0; first < JPROF_COUNTERS && rate > 0 && !w->difference; first += 2) {
		double objects = sample->value[jp_objects_of(first)], bytes = sample->value[jp_bytes_of(first)];
		if (!(objects > 0) || !(bytes > 0))
			continue;
		double p = -expm1(-bytes / objects / rate);
		uint64_t count[2] = { (uint64_t)round(objects * p), (uint64_t)round(bytes * p) };
		struct jp_sampling seen = jp_sampling_of(w->profile->rate, count);
		seen.shift[0] = seen.shift[1] = 0;
		jp_values_seen(sample, first, &seen);
	}
}

static int stack_of_sample(struct pprof_load *w, const struct jp_pprof_sample *s)
{
	if (jp_array_reserve(&w->stack, &w->stack_cap, s->id_count + 1, sizeof *w->stack))
		return NO_MEMORY;
	for (size_t i = 0; i < s->id_count; i++) {
		int rc = location_of_id(w, w->pprof.ids.items[s->id_first + i], &w->stack[i]);
		if (rc)
			return rc;
		/* The innermost, too: jprof took the allocator's away. */
		w->profile->locations[w->stack[i]].returned_to |= !w->profile->loose_addresses;
	}
	if (s->id_count > w->depth)
		w->depth = s->id_count;
	w->stack_len = s->id_count;
	if (!w->stack_len)
		w->stack[w->stack_len++] = jp_build_placeless(w->profile);
	return w->stack[0] == JP_NONE ? NO_MEMORY : 0;
}

static int add_pprof_sample(struct pprof_load *w, const struct jp_pprof_sample *s)
{
	struct jp_values sample = { 0 };
	struct jp_label label = jp_no_label;
	bool wanted;
	if (s->value_count != w->pprof.types.count)
		return faulty(w, "has another number of values than there are types:", s->value_count);
	int rc = thread_of(w, s, &label.thread, &wanted);
	if (!rc)
		rc = tag_of(w, s, &label.tag);
	if (!rc)
		rc = stack_of_sample(w, s);
	if (rc)
		return rc;
	for (int c = 0; c < JPROF_COUNTERS; c++)
		if (w->column[c] >= 0)
			sample.value[c] = (double)w->pprof.values.items[s->value_first + (size_t)w->column[c]];
	guess_seen(w, &sample);
	w->samples++;
	return wanted ? jp_sample_add(w->profile, w->stack, w->stack_len, label, &sample, 1) : 0;
}

/* ---- the whole ---------------------------------------------------------------------------------------------- */

/* jprof has taken the allocator's frames away. Others may have not, but then only an object that is called
 * an allocator, or a program with one inside, can be trusted to be it. */
static int guess_allocator(struct pprof_load *w)
{
	struct jprof_profile *p = w->profile;
	if (w->own)
		return 0;
	if (jp_find_allocator(p, &p->allocator_hint))
		return NO_MEMORY;
	if (p->allocator_hint != JP_NONE) {
		const char *base = jp_basename(jp_string(p, p->objects[p->allocator_hint].path));
		if (strstr(base, ".so") && !strstr(base, "alloc"))
			p->allocator_hint = JP_NONE;
	}
	return 0;
}

static void describe_pprof(struct pprof_load *w)
{
	const struct jp_pprof *p = &w->pprof;
	struct jprof_profile *profile = w->profile;
	struct jp_span comment;
	for (size_t i = 0; i < p->comments.count; i++) {
		if (!jp_pprof_string(p, p->comments.items[i], &comment))
			continue;
		w->own = w->own || jp_span_starts(comment, "jprof ");
		profile->loose_addresses = profile->loose_addresses || jp_span_starts(comment, "#addresses=any");
	}
	profile->loose_addresses = profile->loose_addresses || !w->own;
	if (p->time_nanos > 0)
		profile->mtime = profile->first_mtime = (time_t)(p->time_nanos / 1000000000);
	for (size_t i = 0; i < p->values.count; i++)
		w->difference = w->difference || p->values.items[i] < 0;
	bool bytes = string_is(p, p->period_type.unit_s, "bytes");
	profile->rate = bytes && p->period > 0 ? (uint64_t)p->period : 0;
	profile->lineage.rate = (double)profile->rate;
}

/* One note says where the sound part ends, or the error if there is none. */
static int conclude(struct pprof_load *w, const struct jprof_error *damage)
{
	struct jprof_error what = { 0 };
	size_t n = w->samples;
	const char *samples = n == 1 ? "sample was" : "samples were";
	if (damage && damage->code)
		jp_error(&what, 0, w->name, 0, "%s; %zu %s read", damage->text, n, samples);
	else if (w->pprof.cut)
		jp_error(&what, 0, w->name, 0, "is cut or damaged at byte %zu; %zu %s read", w->pprof.cut_at, n,
		         samples);
	else if (w->fault)
		jp_error(&what, 0, w->name, 0, "sample %zu %s %llu, which is wrong; %zu %s read", n + 1, w->fault,
		         (unsigned long long)w->fault_value, n, samples);
	else
		return 0;
	if (!n)
		return jp_error(w->err, JPROF_E_FORMAT, w->name, 0, "%s; make a new profile", what.text);
	return jp_note_error(w->profile, &what) ? jp_error_nomem(w->err) : 0;
}

static int fill_from_pprof(struct pprof_load *w, const struct jprof_error *damage)
{
	const struct jp_pprof *p = &w->pprof;
	w->object = jp_none_array(p->mappings.count);
	w->function = jp_none_array(p->functions.count);
	w->location = jp_none_array(p->locations.count);
	describe_pprof(w);
	int rc = w->object && w->function && w->location ? index_ids(w) : NO_MEMORY;
	if (!rc)
		rc = take_mappings(w);
	if (!rc)
		rc = take_comments(w);
	for (size_t i = 0; !rc && i < p->samples.count; i++)
		rc = add_pprof_sample(w, &p->samples.items[i]);
	if (rc == NO_MEMORY || guess_allocator(w))
		return jp_error_nomem(w->err);
	rc = conclude(w, damage);
	if (!rc && w->thread && strcmp(w->thread, "*") && !w->thread_seen)
		rc = jp_error(w->err, JPROF_E_ARGUMENT, w->name, 0, "has no thread %s (no sample has that label)",
		              w->thread);
	return rc;
}

static int parse(struct pprof_load *w, const void *data, size_t len, const struct jprof_error *damage)
{
	w->profile = jp_profile_empty();
	if (!w->profile || jp_profile_set_thread(w->profile, w->thread) || jp_pprof_parse(data, len, &w->pprof))
		return jp_error_nomem(w->err);
	bool headless = w->pprof.cut && (!w->pprof.types.count || !w->pprof.strings.count);
	int rc = headless ? conclude(w, damage) : choose_types(w);
	if (!rc)
		rc = fill_from_pprof(w, damage);
	w->profile->info = (struct jprof_profile_info){
		.format = "profile.proto",
		.rate = w->profile->rate,
		.stacks = w->samples,
		.addresses = jp_location_count(w->profile),
		.depth = w->depth,
		.inputs = 1,
		.members = "",
		.has_alloc = w->column[JPROF_ALLOC_OBJECTS] >= 0 || w->column[JPROF_ALLOC_SPACE] >= 0,
		.has_ruby = w->ruby != JP_NONE,
	};
	return rc;
}

int jp_profile_from_pprof(const void *data, size_t len, const char *name, const struct jprof_error *damage,
                          const struct jprof_profile_opts *opts, struct jprof_profile **profile,
                          struct jprof_error *err)
{
	struct pprof_load w = { .name = name, .thread = opts->thread, .ruby = JP_NONE, .err = err };
	int rc = parse(&w, data, len, damage);
	ids_release(&w.mapping_ids);
	ids_release(&w.function_ids);
	ids_release(&w.location_ids);
	jp_pprof_release(&w.pprof);
	free(w.object);
	free(w.function);
	free(w.location);
	free(w.stack);
	free(w.frames);
	if (rc)
		jprof_profile_free(w.profile);
	else
		*profile = w.profile;
	return rc;
}
