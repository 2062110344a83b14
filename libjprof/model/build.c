#include "model/build.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/strbuf.h"
#include "input/demangle.h"

static const char anon_start[] = "[anon ";

/* ---- objects and locations ------------------------------------------------------------------ */

void jp_anon_path(char path[jp_anon_path_size], uint64_t start)
{
	snprintf(path, jp_anon_path_size, "%s%llx]", anon_start, (unsigned long long)start);
}

enum jp_map_kind jp_object_kind_of(const char *path)
{
	return strncmp(path, anon_start, strlen(anon_start)) ? jp_map_kind_of(path) : JP_MAP_ANON;
}

uint32_t jp_build_object(struct jprof_profile *profile, const struct jprof_map *map)
{
	struct jp_object like = { .kind = map ? jp_map_kind_of(map->path) : JP_MAP_ANON, .unmapped = !map };
	char anon[jp_anon_path_size];
	const char *path = map ? map->path : "";
	if (map) {
		like.inode = map->inode;
		like.dev_major = map->dev_major;
		like.dev_minor = map->dev_minor;
	}
	if (map && like.kind == JP_MAP_ANON) {
		jp_anon_path(anon, map->start);
		path = anon;
	}
	like.path = jp_intern_str(&profile->strings, path);
	return like.path == JP_NONE ? JP_NONE : jp_object_id(profile, &like);
}

static uint32_t object_nowhere(struct jprof_profile *profile)
{
	struct jp_object like = { .kind = JP_MAP_SPECIAL,
		                  .path = jp_intern_str(&profile->strings, "[without addresses]") };
	return like.path == JP_NONE ? JP_NONE : jp_object_id(profile, &like);
}

uint32_t jp_build_placeless(struct jprof_profile *profile)
{
	uint32_t object = object_nowhere(profile);
	return object == JP_NONE ? JP_NONE : jp_location_id(profile, object, 0, 0);
}

/* Only regions that hold an address become objects. */
uint32_t jp_build_location(struct jprof_profile *profile, const struct jprof_maps *maps, uint64_t address)
{
	const struct jprof_map *map = maps ? jp_maps_find(maps, address) : NULL;
	uint32_t object = jp_build_object(profile, map);
	if (object == JP_NONE)
		return JP_NONE;
	return jp_location_id(profile, object, map ? address - map->start + map->offset : address, address);
}

/* FNV-1a of the names. */
static uint64_t hash_names(const struct jprof_profile *profile, const struct jp_frame *frames, size_t count)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < count; i++) {
		const struct jp_function *f = &profile->functions[frames[i].function];
		const char *texts[] = { jp_string(profile, f->name), jp_string(profile, f->file) };
		for (size_t t = 0; t < jp_count(texts); t++)
			for (const char *s = texts[t];; s++) {
				h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
				if (!*s)
					break;
			}
		h = (h ^ frames[i].line) * UINT64_C(0x100000001b3);
	}
	return h;
}

uint32_t jp_build_nowhere(struct jprof_profile *profile, const struct jp_frame *frames, size_t count, uint64_t *offset)
{
	*offset = hash_names(profile, frames, count);
	return object_nowhere(profile);
}

int jp_build_mapping(struct jprof_profile *profile, const struct jprof_map *map, uint32_t object)
{
	if (object == JP_NONE || jp_array_push(profile->mappings, profile->mapping_count, profile->mapping_cap))
		return -1;
	profile->mappings[profile->mapping_count] = (struct jp_mapping){ *map, object };
	profile->mappings[profile->mapping_count++].map.path = NULL;
	return 0;
}

int jp_build_mappings(struct jprof_profile *profile, const struct jprof_maps *maps)
{
	size_t count = maps ? jprof_maps_count(maps) : 0;
	for (size_t i = 0; i < count; i++) {
		const struct jprof_map *map = jprof_maps_at(maps, i);
		enum jp_map_kind kind = jp_map_kind_of(map->path);
		if ((kind == JP_MAP_ANON || kind == JP_MAP_SPECIAL) && !map->executable)
			continue;
		if (jp_build_mapping(profile, map, jp_build_object(profile, map)))
			return -1;
	}
	return 0;
}

/* The votes of a profile's samples: that is where the allocator is. */
int jp_find_allocator(const struct jprof_profile *profile, uint32_t *out)
{
	size_t *votes = calloc((size_t)jp_object_count(profile) + 1, sizeof *votes), best = 0;
	if (!votes)
		return -1;
	*out = JP_NONE;
	for (uint32_t i = 0; i < jp_sample_count(profile); i++) {
		size_t depth;
		const uint32_t *stack = jp_stack_get(profile, profile->samples.items[i].stack, &depth);
		if (!depth)
			continue;
		uint32_t object = profile->locations[stack[0]].object;
		if (++votes[object] > best && !profile->objects[object].unmapped) {
			best = votes[object];
			*out = object;
		}
	}
	free(votes);
	return 0;
}

/* ---- functions --------------------------------------------------------------------------------- */

uint32_t jp_build_function(struct jprof_profile *profile, const char *name, const char *system, const char *file)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) full = { 0 }, jp_cleanup(jp_strbuf_release) brief = { 0 };
	const char *linker = *system ? system : name, *shown = *name ? name : system;
	jp_demangle(linker, &full, &brief);
	if (full.failed || brief.failed || !full.text || !brief.text)
		return JP_NONE;
	/* Symbolized files have readable names with parameters in place of the linker's. */
	if (!jp_is_mangled(linker) && strcmp(shown, linker)) {
		jp_strbuf_cut(&brief, 0);
		jp_shorten(linker, &brief);
	}
	/* What another demangler made of it stays: it is what the input says. The linker's name has no lambda's place.
	 */
	bool same = !strcmp(shown, linker) || !strcmp(shown, full.text) || !strcmp(shown, brief.text);
	bool lambda = !strncmp(shown, "lambda at ", strlen("lambda at "));
	return jp_function_named(profile, same || lambda ? full.text : shown, same ? brief.text : shown, linker,
	                         file && *file ? file : NULL);
}

static bool is_hex(const char *s)
{
	struct jp_span span = { s, strlen(s) };
	uint64_t value;
	return jp_span_text(&span, "0x") && jp_span_hex(&span, &value) == JP_NUMBER_OK && !span.len;
}

enum jprof_source jp_build_source(const struct jprof_profile *p, uint32_t object, const struct jp_frame *frames,
                                  size_t count)
{
	const char *base = jp_basename(jp_string(p, p->objects[object].path));
	const char *name = jp_string(p, p->functions[frames[0].function].name);
	if (count != 1)
		return JPROF_SOURCE_INPUT;
	if (p->objects[object].unmapped)
		return is_hex(name) ? JPROF_SOURCE_NONE : JPROF_SOURCE_INPUT;
	/* The file's stem, or all of its name where another file has that stem; the first jprof always wrote the
	 * latter. */
	const size_t lengths[] = { jp_stem_length(base), strlen(base) };
	for (size_t i = 0; i < jp_count(lengths); i++) {
		size_t len = lengths[i];
		if (!strncmp(name, base, len) && (name[len] == '!' || name[len] == '+') && is_hex(name + len + 1))
			return name[len] == '!' ? JPROF_SOURCE_FDE : JPROF_SOURCE_NONE;
	}
	return JPROF_SOURCE_INPUT;
}

/* How many of the dashes after the word operator belong to it: operator-- is one, and of a longer row
 * the last two are a separator. So are two before the letter of a next name. */
static size_t operator_dashes(struct jp_span rest)
{
	size_t dashes = 0;
	while (dashes < rest.len && rest.ptr[dashes] == '-')
		dashes++;
	bool letter = dashes < rest.len && (isalnum((unsigned char)rest.ptr[dashes]) || rest.ptr[dashes] == '_');
	if (dashes == 2)
		return letter ? 0 : 2;
	return dashes <= 3 ? dashes > 0 : 2;
}

/* Where the name at the front of a symbolized file's text ends. */
static size_t bare_name_length(struct jp_span text)
{
	static const char word[] = "operator";
	const size_t n = sizeof word - 1;
	for (size_t i = 0; i + 1 < text.len; i++) {
		struct jp_span rest = { text.ptr + i, text.len - i };
		bool begins = !i || (!isalnum((unsigned char)text.ptr[i - 1]) && text.ptr[i - 1] != '_');
		if (begins && jp_span_starts(rest, word))
			i += n + operator_dashes((struct jp_span){ rest.ptr + n, rest.len - n }) - 1;
		else if (jp_span_starts(rest, "--"))
			return i;
	}
	return text.len;
}

/* jeprof leaves "name<0123456789abcdef>", a symbol's address, in full names. */
static size_t without_tag(struct jp_span name)
{
	enum { tag = 18 };
	if (name.len <= tag || name.ptr[name.len - 1] != '>' || name.ptr[name.len - tag] != '<')
		return name.len;
	for (size_t i = name.len - tag + 1; i < name.len - 1; i++)
		if (!isxdigit((unsigned char)name.ptr[i]))
			return name.len;
	return name.len - tag;
}

/* "??", "0x12" and "00007f0012345678" are no names. */
static bool is_name(struct jp_span text)
{
	uint64_t number;
	bool hex = jp_span_text(&text, "0x") || text.len == 16;
	if (!text.len || (text.len >= 2 && text.ptr[0] == '?' && text.ptr[1] == '?'))
		return false;
	return !hex || jp_span_hex(&text, &number) == JP_NUMBER_NONE || text.len;
}

static uint32_t function_of_span(struct jprof_profile *profile, struct jp_span name)
{
	char *copy = strndup(name.ptr, without_tag(name));
	if (!copy)
		return JP_NONE;
	struct jp_strbuf jp_cleanup(jp_strbuf_release) full = { 0 }, jp_cleanup(jp_strbuf_release) brief = { 0 };
	jp_demangle(copy, &full, &brief);
	/* Full names stand there, demangled by whoever wrote them. */
	if (!jp_is_mangled(copy)) {
		jp_strbuf_cut(&brief, 0);
		jp_shorten(copy, &brief);
		if (!brief.len)
			jp_strbuf_str(&brief, copy);
	}
	uint32_t id = JP_NONE;
	if (!full.failed && !brief.failed && full.text && brief.text)
		id = jp_function_named(profile, full.text, brief.text, copy, NULL);
	free(copy);
	return id;
}

/* Frames that stand outermost first go to the model innermost first. */
static int give_location(struct jprof_profile *profile, uint32_t location, const struct jp_frame *frames, size_t count)
{
	int rc = 0;
	if (!profile->locations[location].frame_count)
		for (size_t i = count; !rc && i-- > 0;)
			rc = jp_frame_add(profile, location, frames[i].function, frames[i].line, i > 0);
	if (count && !rc) {
		struct jp_location *l = &profile->locations[location];
		l->source = jp_build_source(profile, l->object, frames, count);
		l->given = true;
	}
	return rc;
}

int jp_build_given(struct jprof_profile *profile, uint32_t location, const char *text)
{
	struct jp_span rest = { text, strlen(text) };
	struct jp_frame *frames = NULL;
	size_t count = 0, cap = 0;
	int rc = 0;
	while (!rc && rest.len) {
		struct jp_span name = { rest.ptr, bare_name_length(rest) };
		size_t n = name.len + 2 < rest.len ? name.len + 2 : rest.len;
		rest = (struct jp_span){ rest.ptr + n, rest.len - n };
		if (!is_name(name))
			continue;
		rc = jp_array_push(frames, count, cap);
		if (!rc)
			frames[count++] = (struct jp_frame){ function_of_span(profile, name), 0, false };
	}
	if (!rc)
		rc = give_location(profile, location, frames, count);
	free(frames);
	return rc;
}

int jp_build_given_frames(struct jprof_profile *profile, uint32_t location, const struct jprof_dump *dump,
                          const struct jp_given_name *given)
{
	const struct jp_intern *names = &dump->names;
	struct jp_frame *frames = calloc((size_t)given->frame_count + 1, sizeof *frames);
	int rc = frames ? 0 : -1;
	for (uint32_t i = 0; !rc && i < given->frame_count; i++) {
		const struct jp_given_frame *frame = &dump->given_frames[given->frame_first + i];
		const struct jp_given_function *f = &dump->given_functions[frame->function];
		frames[i] = (struct jp_frame){
			.function = jp_function_named(profile, jp_intern_get(names, f->name),
			                              jp_intern_get(names, f->brief), jp_intern_get(names, f->system),
			                              f->file == JP_NONE ? NULL : jp_intern_get(names, f->file)),
			.line = frame->line,
		};
		rc = frames[i].function == JP_NONE ? -1 : 0;
	}
	if (!rc)
		rc = give_location(profile, location, frames, given->frame_count);
	if (!rc)
		profile->locations[location].wrapper = given->wrapper;
	free(frames);
	return rc;
}

int jp_build_given_allocator(struct jprof_profile *profile, const struct jprof_dump *dump)
{
	const struct jp_given_allocator *given = &dump->allocator;
	const char *path = given->path == JP_NONE ? NULL : jp_intern_get(&dump->names, given->path);
	profile->allocator_hint = JP_NONE;
	for (uint32_t i = 0; path && i < jp_object_count(profile); i++)
		if (!strcmp(jp_string(profile, profile->objects[i].path), path))
			profile->allocator_hint = i;
	if (profile->allocator_hint == JP_NONE)
		return 0;
	struct jp_object *o = &profile->objects[profile->allocator_hint];
	o->judged = true;
	o->allocator = given->library;
	if (given->prefix == JP_NONE)
		return 0;
	o->entry_prefix = jp_intern_str(&profile->strings, jp_intern_get(&dump->names, given->prefix));
	return o->entry_prefix == JP_NONE ? -1 : 0;
}

/* ---- threads and notes ---------------------------------------------------------------------------- */

bool jp_is_thread(uint64_t id, const char *name, const char *wanted)
{
	char number[32];
	snprintf(number, sizeof number, "%llu", (unsigned long long)id);
	return !strcmp(wanted, number) || (name && *name && !strcmp(wanted, name));
}

int jp_note_error(struct jprof_profile *profile, const struct jprof_error *what)
{
	char line[JPROF_ERROR_LINE];
	return jp_note_advised(profile, jprof_error_line(what, line, sizeof line), what->advice);
}
