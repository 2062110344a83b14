/* Names for a whole profile: for each object file the locations in it are gathered, sorted, and
 * asked for at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/error.h"
#include "base/opts.h"
#include "input/callsite.h"
#include "input/demangle.h"
#include "model/profile.h"
#include "ops/findfile.h"

struct work {
	struct jprof_profile *profile;
	const struct jprof_symbolize_opts *opts;
	uint32_t *order; /* locations by object and offset */
	uint32_t count;
	uint32_t newer;               /* files that changed after the dump was made */
	uint32_t newest;              /* the first of them */
	struct jp_strbuf full, brief; /* for reuse */
};

/* ---- functions ---------------------------------------------------------------------------------- */

static uint32_t function_named(struct work *w, const char *name, const char *file)
{
	jp_strbuf_cut(&w->full, 0);
	jp_strbuf_cut(&w->brief, 0);
	jp_demangle(name, &w->full, &w->brief);
	if (w->full.failed || w->brief.failed)
		return JP_NONE;
	return jp_function_named(w->profile, w->full.text, w->brief.text, name, file);
}

/* What stands for a name where there is none: FILE!0xSTART of the function, or FILE+0xADDRESS. */
static uint32_t function_nameless(struct work *w, const struct jp_location *l, const struct jp_lookup *lookup,
                                  const char *file)
{
	const struct jp_object *object = &w->profile->objects[l->object];
	const char *base = jp_basename(jp_string(w->profile, object->path));
	char name[512];
	if (object->unmapped)
		snprintf(name, sizeof name, "0x%llx", (unsigned long long)l->address);
	else if (lookup && lookup->fde_start < lookup->fde_end)
		snprintf(name, sizeof name, "%.400s!0x%llx", base, (unsigned long long)lookup->fde_start);
	else
		snprintf(name, sizeof name, "%.400s+0x%llx", base,
		         (unsigned long long)(lookup ? lookup->vaddr : l->offset));
	return jp_function_named(w->profile, name, name, name, file);
}

/* What an input calls a place that has no name stays, unless something better is found. */
static int apply(struct work *w, uint32_t location, const struct jp_lookup *lookup)
{
	struct jp_location *l = &w->profile->locations[location];
	if (l->given && l->frame_count && (!lookup || lookup->source <= l->source))
		return 0;
	l->frame_count = 0;
	if (lookup) {
		l->source = lookup->source;
		l->vaddr = lookup->vaddr;
	}
	for (unsigned i = 0; lookup && i < lookup->frame_count; i++) {
		const struct jp_symframe *f = &lookup->frames[i];
		uint32_t function =
		    f->name ? function_named(w, f->name, f->file) : function_nameless(w, l, lookup, f->file);
		if (jp_frame_add(w->profile, location, function, f->line, f->inlined))
			return -1;
	}
	return l->frame_count ? 0 : jp_frame_add(w->profile, location, function_nameless(w, l, lookup, NULL), 0, false);
}

/* ---- one object file ------------------------------------------------------------------------------ */

static int set_text(struct jprof_profile *profile, uint32_t *id, const char *text)
{
	*id = jp_intern_str(&profile->strings, text);
	return *id == JP_NONE ? -1 : 0;
}

/* The lookups for locations [first, end) of the order that lie in code, sorted by address. */
static struct jp_lookup *make_lookups(struct work *w, const struct jp_objfile *file, uint32_t first, uint32_t end,
                                      size_t *count)
{
	struct jp_lookup *lookups = calloc((size_t)(end - first) + 1, sizeof *lookups);
	*count = 0;
	for (uint32_t i = first; lookups && i < end; i++) {
		const struct jp_location *l = &w->profile->locations[w->order[i]];
		uint64_t vaddr;
		if (l->source != JPROF_SOURCE_INPUT && jp_site_vaddr(w->profile, l, file, &vaddr))
			lookups[(*count)++] = (struct jp_lookup){ .vaddr = vaddr, .location = w->order[i] };
	}
	return lookups;
}

static int by_vaddr(const void *a, const void *b)
{
	const struct jp_lookup *x = a, *y = b;
	return (x->vaddr > y->vaddr) - (x->vaddr < y->vaddr);
}

static int apply_all(struct work *w, const struct jp_lookup *lookups, size_t count, uint32_t first, uint32_t end)
{
	int rc = 0;
	for (size_t i = 0; !rc && i < count; i++)
		rc = apply(w, lookups[i].location, &lookups[i]);
	for (uint32_t i = first; !rc && i < end; i++)
		if (!w->profile->locations[w->order[i]].frame_count)
			rc = apply(w, w->order[i], NULL);
	return rc;
}

/* Every jemalloc has a mallctl: what stands before it stands before malloc, too. */
static int find_entry_prefix(struct work *w, struct jp_object *object, const struct jp_objfile *file)
{
	static const char word[] = "mallctl";
	const char *name = jp_objfile_symbol_ending(file, word);
	if (!name)
		return 0;
	object->entry_prefix = jp_intern(&w->profile->strings, name, strlen(name) - strlen(word));
	return object->entry_prefix == JP_NONE ? -1 : 0;
}

/* A library that defines malloc for others is an allocator and nothing else. */
static int classify(struct work *w, uint32_t object, const struct jp_objfile *file)
{
	struct jp_object *o = &w->profile->objects[object];
	if (!file) {
		o->allocator = strstr(jp_basename(jp_string(w->profile, o->path)), ".so");
		return 0;
	}
	o->program = file->program;
	o->allocator = !file->program && jp_objfile_exports(file, "malloc");
	return o->allocator ? 0 : find_entry_prefix(w, o, file);
}

static int mark_wrappers(struct work *w, const struct jp_objfile *file, const struct jp_lookup *lookups, size_t count)
{
	uint64_t *targets;
	size_t target_count;
	if (jp_wrapper_targets(file, &targets, &target_count))
		return -1;
	for (size_t i = 0; i < count; i++)
		if (lookups[i].source == JPROF_SOURCE_FDE)
			w->profile->locations[lookups[i].location].wrapper =
			    jp_is_target(targets, target_count, lookups[i].fde_start);
	free(targets);
	return 0;
}

static int symbolize_with(struct work *w, uint32_t object, struct jp_objfile *file, uint32_t first, uint32_t end)
{
	size_t count = 0;
	struct jp_lookup *lookups = file ? make_lookups(w, file, first, end, &count) : NULL;
	int rc = file && !lookups ? -1 : 0;
	if (lookups && count) {
		qsort(lookups, count, sizeof *lookups, by_vaddr);
		rc = jp_objfile_symbolize(file, lookups, count);
	}
	if (!rc)
		rc = apply_all(w, lookups, count, first, end);
	if (!rc && file)
		rc = mark_wrappers(w, file, lookups, count);
	if (!rc && object == w->profile->allocator_hint)
		rc = classify(w, object, file);
	free(lookups);
	return rc;
}

/* Nothing is looked for where the input came with all names. */
static bool is_all_named(const struct work *w, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		if (w->profile->locations[w->order[i]].source != JPROF_SOURCE_INPUT)
			return false;
	return true;
}

static int symbolize_object(struct work *w, uint32_t object, uint32_t first, uint32_t end)
{
	struct jprof_profile *p = w->profile;
	struct jp_found found = { 0 };
	struct jp_sites sites = { p, w->order + first, end - first };
	if (is_all_named(w, first, end)) {
		p->objects[object].proof = JPROF_PROOF_INPUT;
		return symbolize_with(w, object, NULL, first, end);
	}
	if (jp_find_file(p, object, &sites, w->opts, &found))
		return -1;
	p->objects[object].proof = found.proof;
	if (found.newer && !w->newer++)
		w->newest = object;
	int rc = set_text(p, &p->objects[object].reason, found.reason);
	if (!rc)
		rc = set_text(p, &p->objects[object].advice, found.advice);
	if (!rc && *found.build_id)
		rc = set_text(p, &p->objects[object].build_id, found.build_id);
	if (!rc)
		rc = symbolize_with(w, object, found.file, first, end);
	jp_objfile_close(found.file);
	return rc;
}

/* ---- all of them -------------------------------------------------------------------------------------- */

struct sort_key {
	uint32_t object;
	uint64_t offset;
	uint32_t location;
};

static int by_object_and_offset(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;
	if (x->object != y->object)
		return x->object < y->object ? -1 : 1;
	return (x->offset > y->offset) - (x->offset < y->offset);
}

static int sort_locations(struct work *w)
{
	w->count = jp_location_count(w->profile);
	struct sort_key *keys = calloc((size_t)w->count + 1, sizeof *keys);
	w->order = calloc((size_t)w->count + 1, sizeof *w->order);
	int rc = keys && w->order ? 0 : -1;
	for (uint32_t i = 0; !rc && i < w->count; i++)
		keys[i] = (struct sort_key){ w->profile->locations[i].object, w->profile->locations[i].offset, i };
	if (!rc)
		qsort(keys, w->count, sizeof *keys, by_object_and_offset);
	for (uint32_t i = 0; !rc && i < w->count; i++)
		w->order[i] = keys[i].location;
	free(keys);
	return rc;
}

static int note_newer(struct work *w)
{
	if (!w->newer)
		return 0;
	const char *path = jp_string(w->profile, w->profile->objects[w->newest].path);
	if (w->newer == 1)
		return jp_note(w->profile, "%s changed after the dump was made: its names may be wrong", path);
	return jp_note(w->profile, "%s and %u more files changed after the dump was made: their names may be wrong",
	               path, w->newer - 1);
}

static int symbolize_all(struct work *w)
{
	int rc = sort_locations(w);
	for (uint32_t first = 0, end; !rc && first < w->count; first = end) {
		uint32_t object = w->profile->locations[w->order[first]].object;
		for (end = first; end < w->count && w->profile->locations[w->order[end]].object == object;)
			end++;
		rc = symbolize_object(w, object, first, end);
	}
	if (!rc)
		rc = note_newer(w);
	return rc ? rc : jp_note_program(w->profile, w->opts);
}

int jprof_profile_symbolize(struct jprof_profile *profile, const struct jprof_symbolize_opts *given,
                            struct jprof_error *err)
{
	struct jprof_symbolize_opts opts;
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	if (rc)
		return rc;
	struct stat st;
	if (opts.sysroot && (stat(opts.sysroot, &st) || !S_ISDIR(st.st_mode)))
		return jp_error(err, JPROF_E_IO, opts.sysroot, 0, "is no directory; --sysroot=DIR wants one");
	struct work w = { .profile = profile, .opts = &opts };
	rc = symbolize_all(&w);
	jp_strbuf_release(&w.full);
	jp_strbuf_release(&w.brief);
	free(w.order);
	return rc ? jp_error_nomem(err) : 0;
}
