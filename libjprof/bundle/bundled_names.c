#include "bundle/bundled_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/array.h"
#include "base/error.h"
#include "base/jsonin.h"
#include "base/search.h"
#include "base/textparts.h"
#include "bundle/symbol_words.h"
#include "input/pprof.h"
#include "model/build.h"
#include "model/fileproof.h"
#include "model/gems.h"
#include "model/nameless.h"

/* Sorted by its first member, as jp_last_up_to wants it. */
struct name_entry {
	uint64_t key;
	size_t index;
};

/* What is to be added to offsets of an object from one on. */
struct shift {
	uint64_t from; /* first: see above */
	uint64_t add;
};

struct shifts {
	struct shift *items;
	size_t count;
};

struct names_work {
	struct jprof_profile *profile;
	struct jp_pprof pprof;
	struct jprof_json *json;
	const char *letters;          /* of each address; NULL: none */
	struct name_entry *addresses; /* the addresses that are named, each once: indices of pprof.locations */
	size_t address_count;
	struct name_entry *functions; /* ids of pprof.functions */
	struct name_entry *places;    /* addresses of the profile's locations */
	uint32_t *function;           /* of each of pprof.functions, JP_NONE: not made yet */
	struct shifts *shifts;        /* of each object of the profile */
	bool *other;                  /* likewise: its names are of another build */
	bool left_out;                /* some are */
	struct jp_frame *frames;
	size_t frame_cap;
};

static int by_entry_key(const void *a, const void *b)
{
	const struct name_entry *x = a, *y = b;
	return jp_order_by(x->key, y->key, jp_order(x->index, y->index));
}

static bool find_entry(const struct name_entry *entries, size_t count, uint64_t key, size_t *index)
{
	const struct name_entry *e = jp_last_up_to(entries, count, sizeof *entries, key);
	if (!e || e->key != key)
		return false;
	*index = e->index;
	return true;
}

/* ---- tables ------------------------------------------------------------------------------------------ */

static int make_tables(struct names_work *w)
{
	const struct jp_pprof *p = &w->pprof;
	size_t places = jp_location_count(w->profile), objects = jp_object_count(w->profile);
	w->addresses = calloc(p->locations.count + 1, sizeof *w->addresses);
	w->functions = calloc(p->functions.count + 1, sizeof *w->functions);
	w->function = calloc(p->functions.count + 1, sizeof *w->function);
	w->places = calloc(places + 1, sizeof *w->places);
	w->shifts = calloc(objects + 1, sizeof *w->shifts);
	w->other = calloc(objects + 1, sizeof *w->other);
	if (!w->addresses || !w->functions || !w->function || !w->places || !w->shifts || !w->other)
		return -1;
	for (size_t i = 0; i < p->functions.count; i++) {
		w->functions[i] = (struct name_entry){ p->functions.items[i].id, i };
		w->function[i] = JP_NONE;
	}
	for (size_t i = 0; i < p->locations.count; i++)
		w->addresses[i] = (struct name_entry){ p->locations.items[i].address, i };
	for (size_t i = 0; i < places; i++)
		w->places[i] = (struct name_entry){ w->profile->locations[i].address, i };
	qsort(w->functions, p->functions.count, sizeof *w->functions, by_entry_key);
	qsort(w->addresses, p->locations.count, sizeof *w->addresses, by_entry_key);
	qsort(w->places, places, sizeof *w->places, by_entry_key);
	for (size_t i = 0; i < p->locations.count; i++)
		if (!i || w->addresses[i].key != w->addresses[w->address_count - 1].key)
			w->addresses[w->address_count++] = w->addresses[i];
	return 0;
}

/* ---- objects ------------------------------------------------------------------------------------------- */

static int take_shifts(struct names_work *w, uint32_t object, jp_json *list)
{
	size_t n = jp_json_length(list);
	struct shifts *s = &w->shifts[object];
	if (s->items || !n)
		return 0;
	s->items = calloc(n, sizeof *s->items);
	for (size_t i = 0; s->items && i < n; i++) {
		jp_json *from = jp_json_at(list, i);
		struct shift shift;
		if (jp_json_hex(from, "from", &shift.from) && jp_json_hex(from, "add", &shift.add))
			s->items[s->count++] = shift;
	}
	if (s->items)
		qsort(s->items, s->count, sizeof *s->items, jp_by_first);
	return s->items ? 0 : -1;
}

/* JP_NONE for a text that is not there; *failed is set when memory is short. */
static uint32_t text_id(struct names_work *w, jp_json *object, const char *key, bool *failed)
{
	const char *text = jp_json_text(object, key);
	uint32_t id = text ? jp_intern_str(&w->profile->strings, text) : JP_NONE;
	*failed = *failed || (text && id == JP_NONE);
	return id;
}

static bool is_proof_known(enum jprof_proof proof)
{
	return proof == JPROF_PROOF_INODE || proof == JPROF_PROOF_BUILD_ID;
}

/* Whether a bundle has names out of another build than ran, by what else it has. */
static bool is_other_build(const struct jprof_profile *p, const struct jp_object *o, jp_json *from)
{
	const char *told = jp_string(p, o->build_id), *used = jp_json_text(from, "build_id");
	enum jprof_proof proof = jp_symbols_proof(jp_json_text(from, "proof"));
	bool unnamed = proof == JPROF_PROOF_NO_FILE || proof == JPROF_PROOF_CONTRADICTED || proof == JPROF_PROOF_INPUT;
	return *told && (used ? strcasecmp(told, used) != 0 : !unnamed);
}

static enum jp_doubt doubt_of(jp_json *from)
{
	if (jp_symbols_proof(jp_json_text(from, "proof")) != JPROF_PROOF_UNVERIFIED)
		return JP_DOUBT_NONE;
	return jp_json_true(from, "changed") ? JP_DOUBT_CHANGED : JP_DOUBT_UNPROVEN;
}

/* Leaves names out. The first such file is said. */
static int leave_out(struct names_work *w, uint32_t object)
{
	bool first = !w->left_out;
	w->left_out = true;
	w->other[object] = true;
	return first ? jp_note(w->profile, "%s: its names in the bundle are of another build, and are left out",
	                       jp_string(w->profile, w->profile->objects[object].path))
	             : 0;
}

static int take_object(struct names_work *w, jp_json *from)
{
	struct jprof_profile *p = w->profile;
	uint64_t address;
	size_t place;
	bool failed = false;
	if (!jp_json_hex(from, "address", &address) || !find_entry(w->places, jp_location_count(p), address, &place))
		return 0;
	uint32_t object = p->locations[place].object;
	if (is_other_build(p, &p->objects[object], from))
		return leave_out(w, object);
	struct jp_object like = {
		.doubt = doubt_of(from),
		.proof = jp_symbols_proof(jp_json_text(from, "proof")),
		.program = jp_json_true(from, "program"),
		.allocator = jp_json_true(from, "allocator"),
		.entry_prefix = text_id(w, from, "entry_prefix", &failed),
		.reason = text_id(w, from, "reason", &failed),
		.advice = jp_advice_of(jp_json_text(from, "advice")),
	};
	const char *build_id = jp_json_text(from, "build_id");
	like.unproven_id = is_proof_known(like.proof) ? JP_NONE : text_id(w, from, "build_id", &failed);
	if (failed || jp_object_bundled(p, object, p, &like))
		return -1;
	if (build_id && is_proof_known(like.proof) && jp_build_id_at(p, address, build_id))
		return -1;
	return take_shifts(w, object, jp_json_get(from, "vaddr"));
}

static int take_objects(struct names_work *w)
{
	jp_json *list = jp_json_get(w->json, "objects");
	int rc = 0;
	for (size_t i = 0; !rc && i < jp_json_length(list); i++)
		rc = take_object(w, jp_json_at(list, i));
	return rc;
}

static int take_gems(struct names_work *w)
{
	jp_json *list = jp_json_get(w->json, "gems");
	for (size_t i = 0; i < jp_json_length(list) && i < jp_most_gems; i++) {
		const char *text = jp_json_text(jp_json_at(list, i), "gem");
		if (text && jp_intern_str(&w->profile->gems, text) == JP_NONE)
			return -1;
	}
	return 0;
}

/* ---- locations -------------------------------------------------------------------------------------------- */

/* A string of the file up to a NUL; to be freed. NULL when memory is short; "" if there is none. */
static char *pprof_text(const struct jp_pprof *p, uint64_t index)
{
	struct jp_span s = { "", 0 };
	(void)jp_pprof_string(p, index, &s);
	return strndup(s.ptr, s.len);
}

/* What stands where there is no name is no linker's name either. */
static uint32_t make_function(struct names_work *w, const struct jp_pprof_function *f, bool named)
{
	char *name = pprof_text(&w->pprof, f->name_s), *system = pprof_text(&w->pprof, f->system_s),
	     *file = pprof_text(&w->pprof, f->file_s);
	uint32_t id = JP_NONE;
	if (name && system && file && named)
		id = jp_build_function(w->profile, name, system, file);
	else if (name && system && file)
		id = jp_function_named(w->profile, name, name, name, *file ? file : NULL);
	free(name);
	free(system);
	free(file);
	return id;
}

/* 0, or -1 when memory is short. Lines without a function are left out. */
static int bundled_frames(struct names_work *w, const struct jp_pprof_location *l, bool named, size_t *count)
{
	*count = 0;
	if (jp_array_reserve(&w->frames, &w->frame_cap, l->line_count + 1, sizeof *w->frames))
		return -1;
	for (size_t i = 0; i < l->line_count; i++) {
		const struct jp_pprof_line *line = &w->pprof.lines.items[l->line_first + i];
		size_t f;
		if (!find_entry(w->functions, w->pprof.functions.count, line->function, &f))
			continue;
		if (w->function[f] == JP_NONE)
			w->function[f] = make_function(w, &w->pprof.functions.items[f], named);
		if (w->function[f] == JP_NONE)
			return -1;
		uint32_t number = line->line > 0 && line->line <= UINT32_MAX ? (uint32_t)line->line : 0;
		w->frames[(*count)++] = (struct jp_frame){ w->function[f], number, i + 1 < l->line_count };
	}
	return 0;
}

/* The first jprof named nameless functions by all of the file's name. 0, or -1 when memory is short. */
static int spell_nameless(struct jprof_profile *p, uint32_t object, struct jp_frame *frame)
{
	const char *base = jp_basename(jp_string(p, p->objects[object].path));
	const char *name = jp_string(p, p->functions[frame->function].name);
	size_t len = strlen(base), label = jp_nameless_label(p, object);
	char text[jp_nameless_size];
	if (label >= len || strncmp(name, base, len) || (name[len] != '!' && name[len] != '+'))
		return 0;
	snprintf(text, sizeof text, "%.*s%s", (int)label, base, name + len);
	frame->function = jp_function_named(p, text, text, text, NULL);
	return frame->function == JP_NONE ? -1 : 0;
}

static uint64_t vaddr_of(const struct names_work *w, const struct jp_location *l)
{
	const struct shifts *s = &w->shifts[l->object];
	const struct shift *shift = jp_last_up_to(s->items, s->count, sizeof *s->items, l->offset);
	return shift ? l->offset + shift->add : 0;
}

static int take_location(struct names_work *w, uint32_t location)
{
	const struct jp_location *l = &w->profile->locations[location];
	struct jp_location like = { 0 };
	enum jprof_source source = JPROF_SOURCE_INPUT;
	bool looked_up = false, wrapper = false;
	size_t index, count;
	const struct name_entry *e = jp_last_up_to(w->addresses, w->address_count, sizeof *w->addresses, l->address);
	if (l->variant || !e || e->key != l->address || w->other[l->object])
		return 0;
	index = (size_t)(e - w->addresses);
	if (w->letters && !jp_symbols_source(w->letters[index], &source, &wrapper, &looked_up))
		return 0;
	like.source = source;
	like.wrapper = wrapper;
	bool named = like.source > JPROF_SOURCE_FDE;
	if (bundled_frames(w, &w->pprof.locations.items[e->index], named, &count))
		return -1;
	if (!named && count == 1 && spell_nameless(w->profile, l->object, w->frames))
		return -1;
	uint64_t vaddr = looked_up ? vaddr_of(w, l) : 0;
	return count ? jp_location_bundled(w->profile, location, &like, vaddr, w->frames, count) : 0;
}

/* ---- the whole ---------------------------------------------------------------------------------------------- */

static int take_json(struct names_work *w, struct jp_span json)
{
	struct jprof_error err;
	int rc = json.len ? jp_json_parse(json.ptr, json.len, "", &w->json, &err) : JPROF_E_FORMAT;
	if (rc == JPROF_E_NOMEM)
		return -1;
	if (rc || jp_json_number(w->json, "jprof_symbols") != jp_symbols_version)
		return 0;
	const char *letters = jp_json_text(w->json, "sources");
	if (letters && strlen(letters) == w->address_count)
		w->letters = letters;
	return take_objects(w) || take_gems(w) ? -1 : 0;
}

int jp_names_take(struct jprof_profile *profile, struct jp_span pprof, struct jp_span json)
{
	struct names_work w = { .profile = profile };
	int rc = jp_pprof_parse(pprof.ptr, pprof.len, &w.pprof);
	if (!rc)
		rc = make_tables(&w);
	if (!rc)
		rc = take_json(&w, json);
	for (uint32_t i = 0; !rc && i < jp_location_count(w.profile); i++)
		rc = take_location(&w, i);
	for (size_t i = 0; w.shifts && i < jp_object_count(w.profile); i++)
		free(w.shifts[i].items);
	jp_pprof_release(&w.pprof);
	jp_json_release(&w.json);
	free(w.shifts);
	free(w.other);
	free(w.addresses);
	free(w.functions);
	free(w.function);
	free(w.places);
	free(w.frames);
	return rc;
}
