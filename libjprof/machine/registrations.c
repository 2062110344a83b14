#include "machine/registrations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/search.h"
#include "machine/flow.h"
#include "machine/rubycalls.h"
#include "machine/rubyobjects.h"

enum { most_passes = 8, longest_class = 400, most_followed = 32 << 20 /* bytes of functions in a pass */ };

/* Memory that holds a class: what all that is stored there agrees on. */
struct cell {
	uint64_t at;
	struct jp_value before, now; /* of the pass before this one, and of this one */
	bool stored;
};

/* What a function is called with, likewise. */
struct parameters {
	struct jp_value before[6], now[6];
	uint32_t calls; /* seen in this pass */
};

/* An address that is called, where that leads, and what it is of Ruby, if anything. */
struct called {
	uint64_t at, target;
	const struct jp_ruby_call *what;
};

struct reading {
	const struct jp_image *image;
	const struct jp_references *references;
	struct jp_intern *texts;
	struct cell *cells;
	struct jp_index cell_ids;
	size_t cell_cap;
	struct called *called;
	struct jp_index called_ids;
	size_t called_cap;
	struct parameters *parameters; /* of each function of the image */
	struct jp_registration *found;
	size_t found_count, found_cap;
	bool failed;
};

static const struct jp_value nothing;

/* ---- texts ---------------------------------------------------------------------------------------- */

static struct jp_value text_value(struct reading *r, enum jp_value_kind kind, const char *text)
{
	uint32_t id = jp_intern_str(r->texts, text);
	r->failed = r->failed || id == JP_NONE;
	return id == JP_NONE ? nothing : (struct jp_value){ .kind = kind, .id = id };
}

static const char *text_at(const struct reading *r, struct jp_value value)
{
	bool address = value.kind == JP_VALUE_ADDRESS || (value.kind == JP_VALUE_NUMBER && r->image->placed);
	return address ? jp_image_text(r->image, value.number) : NULL;
}

/* ---- memory --------------------------------------------------------------------------------------- */

/* Of cells and of what is called: both begin with an address. */
static uint64_t hash_place(uint64_t seed, const void *item)
{
	return jp_hash_mix(seed, *(const uint64_t *)item);
}

static bool equal_places(const void *a, const void *b)
{
	return !jp_by_first(a, b);
}

static struct cell *cell_at(struct reading *r, uint64_t address)
{
	static const struct jp_index_kind kind = { sizeof(struct cell), hash_place, equal_places };
	const struct cell key = { .at = address };
	bool known;
	if (jp_array_push(r->cells, r->cell_ids.count, r->cell_cap)) {
		r->failed = true;
		return NULL;
	}
	uint32_t id = jp_index_id(&r->cell_ids, &kind, r->cells, &key, &known);
	if (id == JP_NONE) {
		r->failed = true;
		return NULL;
	}
	if (!known)
		r->cells[id] = key;
	return &r->cells[id];
}

static struct jp_value object_named(struct reading *r, const char *variable)
{
	const char *name = variable ? jp_ruby_variable(variable) : NULL;
	return name ? text_value(r, JP_VALUE_CLASS, name) : nothing;
}

/* What the loader wrote there, a class of Ruby's own, or what the code stores there. */
static struct jp_value load_memory(void *context, struct jp_value place)
{
	struct reading *r = context;
	const struct jp_image *image = r->image;
	if (place.kind == JP_VALUE_SYMBOL)
		return object_named(r, image->symbols[place.id].name);
	const struct jp_piece *piece = jp_image_piece(image, place.number);
	const struct jp_reloc *reloc = jp_image_reloc(image, place.number);
	if (reloc && reloc->symbol < image->symbol_count) {
		uint64_t value = image->symbols[reloc->symbol].value;
		if (!value)
			return (struct jp_value){ .kind = JP_VALUE_SYMBOL, .id = reloc->symbol };
		return (struct jp_value){ .kind = JP_VALUE_ADDRESS, .number = value + reloc->value };
	}
	if (reloc && piece && piece->fixed)
		return (struct jp_value){ .kind = JP_VALUE_ADDRESS, .number = reloc->value };
	struct jp_value object = object_named(r, jp_image_symbol_at(image, place.number));
	struct cell *cell = object.kind == JP_VALUE_UNKNOWN && !reloc ? cell_at(r, place.number) : NULL;
	return cell ? cell->before : object;
}

static void store_memory(void *context, uint64_t address, unsigned width, struct jp_value value)
{
	struct reading *r = context;
	bool whole = width == 8 && address % 8 == 0;
	for (uint64_t at = address & ~UINT64_C(7); at - (address & ~UINT64_C(7)) < width + 7; at += 8) {
		struct cell *cell = cell_at(r, at);
		if (!cell)
			return;
		cell->now = whole && (!cell->stored || jp_same_value(cell->now, value)) ? value : nothing;
		cell->stored = true;
		if (whole)
			return;
	}
}

/* ---- calls ---------------------------------------------------------------------------------------- */

static const struct jp_ruby_call *call_of_symbol(const struct reading *r, uint32_t symbol)
{
	return jp_ruby_call_of(r->image->symbols[symbol].name);
}

static struct called read_called(const struct reading *r, uint64_t at)
{
	uint32_t symbol = JP_NONE;
	struct called c = { .at = at, .target = jp_stub_target(r->image, at, &symbol) };
	const char *name = symbol < r->image->symbol_count ? NULL : jp_image_symbol_at(r->image, c.target);
	if (symbol < r->image->symbol_count)
		c.what = call_of_symbol(r, symbol);
	else if (name)
		c.what = jp_ruby_call_of(name);
	return c;
}

/* Most addresses are called again and again. NULL when memory is short. */
static const struct called *called_at(struct reading *r, uint64_t at)
{
	static const struct jp_index_kind kind = { sizeof(struct called), hash_place, equal_places };
	const struct called key = { .at = at };
	bool known = false;
	uint32_t id = jp_array_push(r->called, r->called_ids.count, r->called_cap)
	                  ? JP_NONE
	                  : jp_index_id(&r->called_ids, &kind, r->called, &key, &known);
	r->failed = r->failed || id == JP_NONE;
	if (id != JP_NONE && !known)
		r->called[id] = read_called(r, at);
	return id == JP_NONE ? NULL : &r->called[id];
}

/* Puts into the target where a stub leads. */
static const struct jp_ruby_call *ruby_call_to(struct reading *r, struct jp_value *target)
{
	if (target->kind == JP_VALUE_SYMBOL)
		return target->id < r->image->symbol_count ? call_of_symbol(r, target->id) : NULL;
	const struct called *called = target->kind == JP_VALUE_ADDRESS ? called_at(r, target->number) : NULL;
	if (!called)
		return NULL;
	target->number = called->target;
	return called->what;
}

/* What a function of the file itself is called with. */
static void note_arguments(struct reading *r, const struct jp_call *call, uint64_t target)
{
	const struct jp_function_bounds *f = jp_image_begins(r->image, target);
	struct parameters *p = f ? &r->parameters[f - r->image->functions] : NULL;
	for (size_t i = 0; p && i < jp_count(p->now); i++)
		p->now[i] = !p->calls || jp_same_value(p->now[i], call->arguments[i]) ? call->arguments[i] : nothing;
	if (p)
		p->calls++;
}

static const char *name_given(const struct reading *r, const struct jp_ruby_call *what, const struct jp_call *call)
{
	if (what->name >= 0)
		return text_at(r, call->arguments[what->name]);
	struct jp_value id = what->id >= 0 ? call->arguments[what->id] : nothing;
	return id.kind == JP_VALUE_ID ? jp_intern_get(r->texts, id.id) : NULL;
}

/* OWNER::NAME, but NAME alone below Object. */
static struct jp_value define_class(struct reading *r, const struct jp_ruby_call *what, const struct jp_call *call)
{
	char path[longest_class];
	const char *name = name_given(r, what, call), *owner = what->fixed;
	if (what->owner >= 0) {
		struct jp_value value = call->arguments[what->owner];
		owner = value.kind == JP_VALUE_CLASS ? jp_intern_get(r->texts, value.id) : NULL;
		if (!owner)
			return nothing;
	}
	bool top = !owner || !strcmp(owner, "Object");
	if (!name || (what->kind == JP_CALL_CONSTANT && !top))
		return nothing;
	int n = snprintf(path, sizeof path, "%s%s%s", top ? "" : owner, top ? "" : "::", name);
	return n < (int)sizeof path ? text_value(r, JP_VALUE_CLASS, path) : nothing;
}

static struct jp_value define_id(struct reading *r, const struct jp_ruby_call *what, const struct jp_call *call)
{
	const char *name = name_given(r, what, call);
	bool counted = name && call->arguments[1].kind == JP_VALUE_NUMBER && strcmp(what->function, "rb_intern");
	if (!name || (counted && call->arguments[1].number != strlen(name)))
		return nothing;
	return text_value(r, JP_VALUE_ID, name);
}

static void note_method(struct reading *r, const struct jp_ruby_call *what, const struct jp_call *call)
{
	char text[longest_class + 104];
	struct jp_value callback = call->arguments[what->callback],
			owner = what->owner >= 0 ? call->arguments[what->owner] : nothing;
	bool address = callback.kind == JP_VALUE_ADDRESS || (callback.kind == JP_VALUE_NUMBER && r->image->placed);
	const struct jp_function_bounds *f = address ? jp_image_begins(r->image, callback.number) : NULL;
	const char *name = what->kind == JP_CALL_ALLOCATE ? "allocate" : name_given(r, what, call);
	bool complete = what->fixed || owner.kind == JP_VALUE_CLASS || owner.kind == JP_VALUE_SINGLETON;
	if (!f || !name)
		return;
	const char *class = what->fixed ? what->fixed : complete ? jp_intern_get(r->texts, owner.id) : "";
	bool of_class = what->kind != JP_CALL_METHOD || owner.kind == JP_VALUE_SINGLETON;
	snprintf(text, sizeof text, "%s%s%s", class, of_class ? "." : "#", name);
	const struct jp_registration found = { .function = (uint32_t)(f - r->image->functions),
		                               .text = text_value(r, JP_VALUE_ID, text).id,
		                               .owner = complete ? text_value(r, JP_VALUE_ID, class).id : JP_NONE,
		                               .method = text_value(r, JP_VALUE_ID, name).id };
	if (r->failed || jp_array_push(r->found, r->found_count, r->found_cap))
		r->failed = true;
	else
		r->found[r->found_count++] = found;
}

static struct jp_value on_call(void *context, const struct jp_call *call, bool final)
{
	struct reading *r = context;
	struct jp_value target = call->target;
	const struct jp_ruby_call *what = ruby_call_to(r, &target);
	if (!what) {
		if (final && target.kind == JP_VALUE_ADDRESS)
			note_arguments(r, call, target.number);
		return nothing;
	}
	switch (what->kind) {
	case JP_CALL_METHOD:
	case JP_CALL_SINGLETON:
	case JP_CALL_ALLOCATE:
		if (final)
			note_method(r, what, call);
		return nothing;
	case JP_CALL_CLASS:
	case JP_CALL_CONSTANT: return define_class(r, what, call);
	case JP_CALL_ID: return define_id(r, what, call);
	case JP_CALL_PATH: {
		const char *path = text_at(r, call->arguments[what->name]);
		return path ? text_value(r, JP_VALUE_CLASS, path) : nothing;
	}
	case JP_CALL_META: {
		struct jp_value owner = call->arguments[what->owner];
		return owner.kind == JP_VALUE_CLASS ? (struct jp_value){ .kind = JP_VALUE_SINGLETON, .id = owner.id }
		                                    : nothing;
	}
	}
	return nothing;
}

/* ---- passes --------------------------------------------------------------------------------------- */

static int follow_function(struct reading *r, const struct jp_memory *memory, uint32_t function)
{
	struct jp_flow flow = { .image = r->image,
		                .calling = jp_calling_of(r->image->machine),
		                .memory = memory,
		                .entries = r->references->entries,
		                .entry_count = r->references->entry_count,
		                .context = r,
		                .call = on_call };
	memcpy(flow.arguments, r->parameters[function].before, sizeof flow.arguments);
	return jp_flow_function(&flow, &r->image->functions[function]);
}

/* Parameters hold where every place that calls the function was seen. Whether anything is new. */
static bool end_pass(struct reading *r)
{
	bool changed = false;
	for (uint32_t i = 0; i < r->cell_ids.count; i++) {
		struct cell *cell = &r->cells[i];
		changed = changed || !jp_same_value(cell->before, cell->now);
		cell->before = cell->now;
		cell->now = nothing;
		cell->stored = false;
	}
	for (size_t i = 0; i < r->image->function_count; i++) {
		struct parameters *p = &r->parameters[i];
		const struct jp_function_uses *uses = &r->references->uses[i];
		bool all = p->calls && p->calls == uses->calls && !uses->taken;
		for (size_t k = 0; k < jp_count(p->now); k++) {
			struct jp_value value = all ? p->now[k] : nothing;
			if (value.kind == JP_VALUE_STACK || value.kind == JP_VALUE_NUMBER)
				value = nothing;
			changed = changed || !jp_same_value(p->before[k], value);
			p->before[k] = value;
			p->now[k] = nothing;
		}
		p->calls = 0;
	}
	return changed;
}

/* What classes and parameters are known in one pass serves the next one, until there is nothing new; if that takes too
 * long nothing of it is. */
static int read_registrations(struct reading *r)
{
	const struct jp_memory memory = { r, load_memory, store_memory };
	const struct jp_references *references = r->references;
	bool changed = true;
	for (unsigned pass = 0; changed && pass <= most_passes; pass++) {
		uint64_t bytes = 0;
		r->found_count = 0;
		for (size_t i = 0; i < references->sighting_count && !r->failed; i++) {
			uint32_t function = references->sightings[i];
			bytes += r->image->functions[function].end - r->image->functions[function].start;
			if (bytes > most_followed) {
				r->found_count = 0;
				return 0;
			}
			if (follow_function(r, &memory, function))
				return -1;
		}
		changed = end_pass(r);
	}
	if (changed)
		r->found_count = 0;
	return r->failed ? -1 : 0;
}

int jp_registrations_find(const struct jp_image *image, const struct jp_references *references, struct jp_intern *texts,
                          struct jp_registration **found, size_t *count)
{
	struct reading r = { .image = image, .references = references, .texts = texts };
	r.parameters = calloc(image->function_count + 1, sizeof *r.parameters);
	int rc = r.parameters ? read_registrations(&r) : -1;
	*found = r.found;
	*count = r.found_count;
	free(r.parameters);
	free(r.cells);
	jp_index_release(&r.cell_ids);
	free(r.called);
	jp_index_release(&r.called_ids);
	return rc;
}
