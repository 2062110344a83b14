/* Names for a whole profile: for each object file the locations in it are gathered, sorted, and
 * asked for at once. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/opts.h"
#include "base/search.h"
#include "input/asknames.h"
#include "input/demangle.h"
#include "input/namecache.h"
#include "input/packfiles.h"
#include "input/perfmap.h"
#include "model/nameless.h"
#include "ops/doubts.h"
#include "ops/findfile.h"
#include "ops/findgems.h"
#include "ops/reopen.h"
#include "ops/wrappers.h"

struct symbolizing {
	struct jprof_profile *profile;
	const struct jprof_symbolize_opts *opts;
	uint32_t *order; /* locations by object and offset */
	uint32_t count;
	struct jp_strbuf full, brief; /* for reuse */
	uint32_t labelled;            /* the object that label_length is of, plus 1; 0: none yet */
	int label_length;
	struct jp_debug_where where;
	struct jp_perfmap *jit; /* NULL: none, or not looked for yet */
	bool looked_for_jit, used_jit;
	struct jp_arena arena; /* names of JIT code */
	struct jp_wrappers wrappers;
	struct jp_packfiles packs;
	struct jp_unread unread;
};

/* ---- functions ---------------------------------------------------------------------------------- */

static uint32_t function_named(struct symbolizing *w, const char *name, const char *file)
{
	jp_strbuf_cut(&w->full, 0);
	jp_strbuf_cut(&w->brief, 0);
	jp_demangle(name, &w->full, &w->brief);
	if (w->full.failed || w->brief.failed)
		return JP_NONE;
	return jp_function_named(w->profile, w->full.text, w->brief.text, name, file);
}

/* What stands for a name where there is none: FILE!0xSTART of the function, or FILE+0xADDRESS. */
static uint32_t function_nameless(struct symbolizing *w, const struct jp_location *l,
                                  const struct jp_reply_place *place, const char *file)
{
	const struct jp_object *object = &w->profile->objects[l->object];
	const char *base = jp_basename(jp_string(w->profile, object->path));
	char name[512];
	if (w->labelled != l->object + 1) {
		w->labelled = l->object + 1;
		w->label_length = (int)jp_nameless_label(w->profile, l->object);
	}
	if (object->unmapped)
		snprintf(name, sizeof name, "0x%llx", (unsigned long long)l->address);
	else if (place && place->fde_start < place->fde_end)
		snprintf(name, sizeof name, "%.*s!0x%llx", w->label_length, base, (unsigned long long)place->fde_start);
	else
		snprintf(name, sizeof name, "%.*s+0x%llx", w->label_length, base,
		         (unsigned long long)(place ? place->vaddr : l->offset));
	return jp_function_named(w->profile, name, name, name, file);
}

/* What an input calls a place that has no name stays, unless something better is found. */
static bool name_stays(const struct jp_location *l, const struct jp_reply_place *place)
{
	return (l->given || l->bundled) && l->frame_count && (!place || place->source <= l->source);
}

/* Of a place about which nothing was found. */
static int apply_nothing(struct symbolizing *w, uint32_t location)
{
	struct jp_location *l = &w->profile->locations[location];
	if (name_stays(l, NULL))
		return 0;
	l->frame_count = 0;
	if (w->opts->lean)
		return 0;
	return jp_frame_add(w->profile, location, function_nameless(w, l, NULL, NULL), 0, false);
}

/* ---- one reply ------------------------------------------------------------------------------------ */

/* The profile's ids of the reply's functions, which are made when the first frame needs them. */
static uint32_t profile_function(struct symbolizing *w, const struct jp_namereply *reply, uint32_t *ids,
                                 uint32_t function)
{
	const struct jp_reply_function *f = &reply->functions[function];
	if (ids[function] == JP_NONE)
		ids[function] = jp_function_named(w->profile, f->name, f->brief, f->linkage, f->file);
	return ids[function];
}

static int apply(struct symbolizing *w, const struct jp_namereply *reply, uint32_t *ids,
                 const struct jp_reply_place *place, uint32_t location)
{
	struct jp_location *l = &w->profile->locations[location];
	if (name_stays(l, place))
		return 0;
	l->frame_count = 0;
	l->source = place->source;
	if (jp_location_set_vaddr(w->profile, location, place->vaddr))
		return -1;
	for (uint32_t i = 0; i < place->frame_count; i++) {
		const struct jp_reply_frame *f = &reply->frames[place->frame_first + i];
		const struct jp_reply_function *named = &reply->functions[f->function];
		uint32_t function = named->linkage ? profile_function(w, reply, ids, f->function)
		                                   : function_nameless(w, l, place, named->file);
		if (jp_frame_add(w->profile, location, function, f->line, f->inlined))
			return -1;
	}
	if (l->frame_count)
		return 0;
	return jp_frame_add(w->profile, location, function_nameless(w, l, place, NULL), 0, false);
}

/* ---- one object file ------------------------------------------------------------------------------ */

static int set_string(struct jprof_profile *profile, uint32_t *id, const char *text)
{
	*id = jp_intern_str(&profile->strings, text);
	return *id == JP_NONE ? -1 : 0;
}

/* What is asked about locations [first, end) of the order. */
struct question {
	uint32_t *locations;
	uint64_t *offsets; /* ascending, as the order is */
	size_t count;
};

static int make_question(const struct symbolizing *w, uint32_t first, uint32_t end, struct question *q)
{
	q->locations = calloc((size_t)(end - first) + 1, sizeof *q->locations);
	q->offsets = calloc((size_t)(end - first) + 1, sizeof *q->offsets);
	for (uint32_t i = first; q->locations && q->offsets && i < end; i++) {
		const struct jp_location *l = &w->profile->locations[w->order[i]];
		if (l->source >= JPROF_SOURCE_INPUT)
			continue;
		q->locations[q->count] = w->order[i];
		q->offsets[q->count++] = l->offset;
	}
	return q->locations && q->offsets ? 0 : -1;
}

/* Those that have no frames yet. */
static int apply_rest(struct symbolizing *w, uint32_t first, uint32_t end)
{
	int rc = 0;
	for (uint32_t i = first; !rc && i < end; i++)
		if (!w->profile->locations[w->order[i]].frame_count)
			rc = apply_nothing(w, w->order[i]);
	return rc;
}

/* A library that defines malloc for others is an allocator and nothing else. Else every jemalloc has a mallctl: what
 * stands before it stands before malloc, too. */
static int classify(struct symbolizing *w, uint32_t object, const struct jp_namereply *reply)
{
	static const char word[] = "mallctl";
	struct jp_object *o = &w->profile->objects[object];
	size_t len = reply->mallctl ? strlen(reply->mallctl) : 0;
	o->program = reply->program;
	o->allocator = !reply->program && reply->exports_malloc;
	if (o->allocator || len < strlen(word))
		return 0;
	o->entry_prefix = jp_intern(&w->profile->strings, reply->mallctl, len - strlen(word));
	return o->entry_prefix == JP_NONE ? -1 : 0;
}

static void classify_without_names(struct symbolizing *w, uint32_t object, const struct jp_objfile *file)
{
	struct jp_object *o = &w->profile->objects[object];
	if (o->judged)
		return;
	if (file)
		o->program = file->program;
	else if (o->bundled)
		return;
	o->allocator = !file && strstr(jp_basename(jp_string(w->profile, o->path)), ".so");
}

/* What all parts of an answer have. */
struct seen_places {
	bool code, described; /* places in code; such that unwind tables know */
};

/* One part of the answer. A place that is pending comes again. */
static int apply_reply(struct symbolizing *w, const struct jp_asking *asking, const struct question *q,
                       struct seen_places *seen)
{
	const struct jp_namereply *reply = &asking->reply;
	uint32_t *ids = jp_none_array((size_t)reply->function_count + 1);
	int rc = ids ? 0 : -1;
	for (uint32_t i = 0; !rc && i < reply->place_count; i++) {
		const struct jp_reply_place *place = &reply->places[i];
		uint32_t location = q->locations[jp_asking_offset(asking, i)];
		if (place->reason == JP_NAMELESS_OUTSIDE || place->reason == JP_NAMELESS_PENDING)
			continue;
		seen->code = true;
		seen->described = seen->described || place->fde_start < place->fde_end;
		rc = apply(w, reply, ids, place, location);
		if (place->source == JPROF_SOURCE_FDE && w->profile->locations[location].source == JPROF_SOURCE_FDE)
			w->profile->locations[location].wrapper = place->wrapper;
	}
	free(ids);
	return rc;
}

static bool hands_on_memory(const void *wrappers, const char *name)
{
	return jp_is_wrapper_name(wrappers, name);
}

/* Which names are missing because something could not be read. */
static int note_trouble(struct jprof_profile *profile, const struct jp_objfile *file, const struct jp_asking *asking)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	jp_strbuf_printf(&text, "%s %s: %s", file->path,
	                 asking->nameless ? "gives no names" : "gives no lines and inlined functions", asking->trouble);
	return text.failed ? -1 : jp_note_advised(profile, text.text, JPROF_ADVICE_READABLE);
}

static int ask_names(struct symbolizing *w, uint32_t object, struct jp_objfile *file, const struct question *q)
{
	bool hint = object == w->profile->allocator_hint, classified = false;
	struct seen_places seen = { 0 };
	struct jp_asking jp_cleanup(jp_asking_release) asking = {
		.file = file,
		.where = &w->where,
		.ask = { .offsets = q->offsets,
		         .count = q->count,
		         .image = w->profile->objects[object].image,
		         .allocator = hint,
		         .is_wrapper = hands_on_memory,
		         .wrappers = &w->wrappers },
	};
	int more;
	while ((more = jp_asking_next(&asking)) > 0) {
		if (apply_reply(w, &asking, q, &seen) || (hint && !classified && classify(w, object, &asking.reply)))
			return -1;
		classified = true;
	}
	if (!more && *asking.trouble && note_trouble(w->profile, file, &asking))
		return -1;
	/* musl's libc is built without: what called it is missing in the dump. */
	if (!more && seen.code && !seen.described)
		jp_objfile_remark(file, "has no unwind tables: stacks that pass through it end there");
	return more;
}

static int symbolize_with(struct symbolizing *w, uint32_t object, struct jp_objfile *file, uint32_t first, uint32_t end)
{
	struct question q = { 0 };
	int rc = file ? make_question(w, first, end, &q) : 0;
	if (!rc && q.count)
		rc = ask_names(w, object, file, &q);
	if (!rc)
		rc = apply_rest(w, first, end);
	if (!rc && object == w->profile->allocator_hint && !q.count)
		classify_without_names(w, object, file);
	free(q.locations);
	free(q.offsets);
	return rc;
}

/* ---- code made at run time ------------------------------------------------------------------------ */

/* The list of the process itself, looked for when it is needed first. What speaks against it is noted. */
static int find_jit(struct symbolizing *w)
{
	struct jprof_error err = { 0 };
	if (w->jit || w->looked_for_jit || !w->opts->perf_map_pid)
		return 0;
	w->looked_for_jit = true;
	int rc = jp_perfmap_open_pid(w->where.root, w->opts->perf_map_pid, w->opts->perf_map_uid, &w->jit, &err);
	if (!rc)
		return 0;
	return rc == JPROF_E_NOMEM || jp_note(w->profile, "%s %s, and is not used", err.path, err.text) ? -1 : 0;
}

/* The locations [first, end) of the order, by address. */
static struct jp_lookup *jit_lookups(struct symbolizing *w, uint32_t first, uint32_t end, size_t *count)
{
	struct jp_lookup *lookups = calloc((size_t)(end - first) + 1, sizeof *lookups);
	*count = 0;
	for (uint32_t i = first; lookups && i < end; i++)
		if (w->profile->locations[w->order[i]].source < JPROF_SOURCE_INPUT)
			lookups[(*count)++] = (struct jp_lookup){ .vaddr = w->profile->locations[w->order[i]].address,
				                                  .location = w->order[i] };
	if (*count)
		qsort(lookups, *count, sizeof *lookups, jp_by_first);
	if (lookups && jp_perfmap_lookup(w->jit, &w->arena, lookups, *count)) {
		free(lookups);
		return NULL;
	}
	return lookups;
}

/* An entry of the list is one function. */
static int apply_jit(struct symbolizing *w, const struct jp_lookup *lookup)
{
	struct jp_location *l = &w->profile->locations[lookup->location];
	const struct jp_reply_place place = { .vaddr = lookup->vaddr, .source = lookup->source };
	if (name_stays(l, &place))
		return 0;
	l->frame_count = 0;
	l->source = lookup->source;
	if (jp_location_set_vaddr(w->profile, lookup->location, lookup->vaddr))
		return -1;
	const struct jp_symframe *f = lookup->frames;
	return jp_frame_add(w->profile, lookup->location, function_named(w, f->name, f->file), f->line, f->inlined);
}

static int symbolize_jit(struct symbolizing *w, uint32_t first, uint32_t end, struct jp_found *found)
{
	size_t count, named = 0;
	struct jp_lookup *lookups = jit_lookups(w, first, end, &count);
	int rc = lookups ? 0 : -1;
	for (size_t i = 0; !rc && i < count; i++)
		if (lookups[i].frame_count) {
			named++;
			rc = apply_jit(w, &lookups[i]);
		}
	free(lookups);
	if (rc || apply_rest(w, first, end))
		return -1;
	if (named) {
		*found->reason = '\0';
		found->advice = JPROF_ADVICE_NONE;
		w->used_jit = true;
	}
	if (named < end - first)
		snprintf(found->reason, sizeof found->reason,
		         "%zu of %u addresses here are in no entry of the perf map", end - first - named, end - first);
	return 0;
}

/* ---- one object ------------------------------------------------------------------------------------ */

/* Where nothing better is known the build-id is that of the file which gave the input its names. */
static void show_unproven_id(struct jp_object *o)
{
	if (o->build_id == JP_NONE)
		o->build_id = o->unproven_id;
}

static int store_proof(struct symbolizing *w, uint32_t object, const struct jp_found *found)
{
	struct jp_object *o = &w->profile->objects[object];
	const struct jp_strbuf *remarks = found->file ? &found->file->remarks : NULL;
	o->proof = found->proof;
	o->advice = found->advice;
	o->doubt = found->doubt > o->doubt ? found->doubt : o->doubt;
	if (set_string(w->profile, &o->reason, remarks && remarks->len ? remarks->text : found->reason) ||
	    (found->file && jp_remember_file(w->profile, object, found->file)) ||
	    (*found->refused_id && o->refused_id == JP_NONE &&
	     set_string(w->profile, &o->refused_id, found->refused_id)))
		return -1;
	if (*found->build_id)
		return set_string(w->profile, &o->build_id, found->build_id);
	show_unproven_id(o);
	return 0;
}

/* Nothing is looked for where the input came with all names. */
static bool is_all_named(const struct symbolizing *w, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++)
		if (w->profile->locations[w->order[i]].source < JPROF_SOURCE_INPUT)
			return false;
	return true;
}

/* ---- objects that a bundle knows ----------------------------------------------------------------- */

/* Whether a bundle named all locations, and whether a file could name any of them better. */
static bool is_bundled(const struct symbolizing *w, uint32_t object, uint32_t first, uint32_t end, bool *better)
{
	bool all = w->profile->objects[object].bundled;
	*better = false;
	for (uint32_t i = first; i < end; i++) {
		const struct jp_location *l = &w->profile->locations[w->order[i]];
		all = all && (l->bundled || l->source >= JPROF_SOURCE_INPUT);
		*better = *better || l->source < JPROF_SOURCE_JIT;
	}
	return all;
}

/* Only the very file that gave the names where the bundle was made may do better, proven to be the one that ran or not;
 * where there was none, any that would do for a dump. */
static bool may_replace(const struct jp_object *o, const struct jprof_profile *p, const struct jp_found *found)
{
	uint32_t known = o->build_id;
	if (known == JP_NONE && o->proof == JPROF_PROOF_UNVERIFIED)
		known = o->unproven_id;
	if (known != JP_NONE && *found->build_id)
		return !strcmp(jp_string(p, known), found->build_id);
	return o->proof == JPROF_PROOF_NO_FILE || o->proof == JPROF_PROOF_CONTRADICTED;
}

static int symbolize_bundled(struct symbolizing *w, uint32_t object, uint32_t first, uint32_t end, bool better)
{
	struct jprof_profile *p = w->profile;
	struct jp_found found = { 0 };
	struct jp_sites sites = { p, w->order + first, end - first };
	bool known = p->objects[object].build_id != JP_NONE;
	int rc =
	    (better || known) && !w->opts->no_lookup ? jp_find_file(p, object, &sites, w->opts, &w->unread, &found) : 0;
	bool usable = !rc && found.file && may_replace(&p->objects[object], p, &found);
	if (usable && better) {
		rc = symbolize_with(w, object, found.file, first, end);
		if (!rc)
			rc = store_proof(w, object, &found);
	} else if (usable && known) { /* for its code */
		rc = jp_remember_file(p, object, found.file);
	}
	show_unproven_id(&p->objects[object]);
	jp_objfile_close(found.file);
	return rc;
}

static int symbolize_object(struct symbolizing *w, uint32_t object, uint32_t first, uint32_t end)
{
	bool better;
	struct jprof_profile *p = w->profile;
	struct jp_found found = { 0 };
	struct jp_sites sites = { p, w->order + first, end - first };
	if (is_all_named(w, first, end)) {
		p->objects[object].proof = JPROF_PROOF_INPUT;
		show_unproven_id(&p->objects[object]);
		return symbolize_with(w, object, NULL, first, end);
	}
	bool jit_wanted = w->opts->perf_map && jp_is_made_at_run_time(p, &p->objects[object]);
	if (is_bundled(w, object, first, end, &better) && !jit_wanted)
		return symbolize_bundled(w, object, first, end, better);
	if (w->opts->no_lookup)
		snprintf(found.reason, sizeof found.reason, "no file was looked for");
	else if (jp_find_file(p, object, &sites, w->opts, &w->unread, &found))
		return -1;
	bool jit = !found.file && jp_is_made_at_run_time(p, &p->objects[object]) &&
	           (w->opts->perf_map || !p->objects[object].by_id_only);
	int rc = jit ? find_jit(w) : 0;
	if (!rc && jit && w->jit)
		rc = symbolize_jit(w, first, end, &found);
	else if (!rc)
		rc = symbolize_with(w, object, found.file, first, end);
	if (!rc)
		rc = store_proof(w, object, &found);
	jp_objfile_close(found.file);
	return rc;
}

/* ---- all of them -------------------------------------------------------------------------------------- */

static int by_object_and_offset(const void *a, const void *b, void *locations)
{
	uint32_t m = *(const uint32_t *)a, n = *(const uint32_t *)b;
	const struct jp_location *x = (const struct jp_location *)locations + m;
	const struct jp_location *y = (const struct jp_location *)locations + n;
	return jp_order_by(x->object, y->object, jp_order_by(x->offset, y->offset, jp_order(m, n)));
}

static int sort_locations(struct symbolizing *w)
{
	w->count = jp_location_count(w->profile);
	w->order = calloc((size_t)w->count + 1, sizeof *w->order);
	if (!w->order)
		return -1;
	for (uint32_t i = 0; i < w->count; i++)
		w->order[i] = i;
	if (w->count)
		qsort_r(w->order, w->count, sizeof *w->order, by_object_and_offset, w->profile->locations);
	return 0;
}

static int symbolize_all(struct symbolizing *w)
{
	int rc = sort_locations(w);
	for (uint32_t first = 0, end; !rc && first < w->count; first = end) {
		uint32_t object = w->profile->locations[w->order[first]].object;
		for (end = first; end < w->count && w->profile->locations[w->order[end]].object == object;)
			end++;
		rc = symbolize_object(w, object, first, end);
	}
	if (!rc && w->opts->lean)
		rc = jp_nameless_settle(w->profile);
	if (!rc)
		rc = jp_note_doubts(w->profile);
	if (!rc && !w->opts->no_lookup)
		rc = jp_find_gems(w->profile, w->where.root);
	return rc || w->opts->no_lookup ? rc : jp_note_program(w->profile, w->opts);
}

/* ---- where names are looked for ---------------------------------------------------------------------- */

static int open_sources(struct symbolizing *w, struct jprof_error *err)
{
	const struct jprof_symbolize_opts *o = w->opts;
	w->where = (struct jp_debug_where){
		.root = { .path = o->sysroot, .opener = o->opener, .notice = o->notice, .unread = &w->unread },
		.dirs = o->debug_dir,
		.files = o->add_lib,
		.finder = o->finder
	};
	if (jp_wrappers_init(&w->wrappers) || (o->debuginfod && !(w->where.server = jp_debuginfod_new())))
		return jp_error_nomem(err);
	w->packs.notice = o->notice;
	int rc = jp_packfiles_add(&w->packs, o->names, err);
	if (rc)
		return rc;
	if (jp_packfiles_scan(&w->packs, o->names_dirs) ||
	    (o->cache && !o->no_lookup && jp_namecache_open(o->cache, o->cache_most, &w->where.cache)))
		return jp_error_nomem(err);
	w->where.packs = &w->packs;
	w->looked_for_jit = o->perf_map;
	return o->perf_map ? jp_perfmap_open(o->perf_map, &w->jit, err) : 0;
}

/* What the user should know of them. */
static int note_sources(struct symbolizing *w)
{
	const struct jprof_symbolize_opts *o = w->opts;
	const char *trouble = w->where.server ? jp_debuginfod_trouble(w->where.server) : NULL;
	const char *refused = w->packs.refused.text;
	unsigned line = 0;
	if (jp_note_unread(w->profile, &w->unread) || (refused && jp_note(w->profile, "%s", refused)))
		return -1;
	size_t faults = w->jit ? jp_perfmap_faults(w->jit, &line) : 0;
	if (trouble && jp_note(w->profile, "debuginfod: %s", trouble))
		return -1;
	if (w->used_jit && !o->perf_map &&
	    jp_note(w->profile, "code made at run time is named by %s/tmp/perf-%llu.map", o->sysroot ? o->sysroot : "",
	            (unsigned long long)o->perf_map_pid))
		return -1;
	if (faults && (w->used_jit || o->perf_map))
		return jp_note(w->profile,
		               "the perf map has %zu lines that do not read START SIZE NAME; the first is line %u",
		               faults, line);
	return 0;
}

static void symbolizing_release(struct symbolizing *w)
{
	jp_strbuf_release(&w->full);
	jp_strbuf_release(&w->brief);
	jp_debuginfod_free(w->where.server);
	jp_perfmap_free(w->jit);
	jp_arena_release(&w->arena);
	jp_wrappers_release(&w->wrappers);
	jp_packfiles_release(&w->packs);
	jp_namecache_close(w->where.cache);
	free(w->order);
}

int jprof_profile_symbolize(struct jprof_profile *profile, const struct jprof_symbolize_opts *given,
                            struct jprof_error *err)
{
	if (jp_null(err, profile))
		return JPROF_E_ARGUMENT;
	struct jprof_symbolize_opts opts;
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	if (rc || profile->named)
		return rc;
	if ((opts.opener && !opts.opener->open) || (opts.finder && !opts.finder->find))
		return jp_null(err, NULL);
	struct stat st;
	bool is_there = !opts.sysroot || opts.opener || !stat(opts.sysroot, &st);
	if (!is_there && errno != ENOENT && errno != ENOTDIR)
		return jp_error(err, JPROF_E_IO, opts.sysroot, 0, "%s", strerror(errno));
	if (!is_there || (opts.sysroot && !opts.opener && !S_ISDIR(st.st_mode)))
		return jp_advise(err, JPROF_ADVICE_SYSROOT,
		                 jp_error(err, JPROF_E_IO, opts.sysroot, 0, "is no directory"));
	opts.lean = opts.lean && !profile->info.has_ruby; /* frames of Ruby tell where the others come from */
	struct symbolizing w = { .profile = profile, .opts = &opts };
	rc = open_sources(&w, err);
	jp_profile_rest(profile);
	if (!rc && (jp_remember_where(profile, &w.where) || symbolize_all(&w) || note_sources(&w)))
		rc = jp_error_nomem(err);
	symbolizing_release(&w);
	jp_profile_rest(profile);
	profile->named = !rc;
	profile->lean = profile->named && opts.lean;
	return rc;
}
