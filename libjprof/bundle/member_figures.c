#include "bundle/member_figures.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bundle/member_proc.h"
#include "input/demangle.h"
#include "model/profile.h"

/* ---- jemalloc -------------------------------------------------------------------------------------------- */

/* The sums over all arenas: those of jemalloc, or an arena after the other where the text has no sums. */
static jp_json *arena_sums(jp_json *stats, size_t i)
{
	char name[24];
	jp_json *arenas = jp_json_get(stats, "stats.arenas"), *merged = jp_json_get(arenas, "merged");
	snprintf(name, sizeof name, "%zu", i);
	return merged ? (i ? NULL : merged) : jp_json_get(arenas, name);
}

static void add_classes(struct jp_figures *to, jp_json *kinds, jp_json *arena)
{
	jp_json *bins = jp_json_get(arena, "bins");
	for (size_t i = 0; i < jp_json_length(bins) && i < jp_most_classes; i++) {
		jp_json *kind = jp_json_at(kinds, i), *bin = jp_json_at(bins, i);
		double size = (double)jp_json_number(kind, "size");
		double places = (double)jp_json_number(bin, "curslabs") * (double)jp_json_number(kind, "nregs");
		struct jp_class_sum sum = { .size = jp_json_number(kind, "size"),
			                    .slabs = places * size,
			                    .occupied = (double)jp_json_number(bin, "curregs") * size };
		if (sum.slabs > 0)
			jp_figures_add_class(to, &sum);
	}
}

/* What was read in the memory of the process itself has each live object, also the large ones and those that are
 * sampled. Returns the bytes of live objects that were never touched. */
static double add_live_classes(struct jp_figures *to, jp_json *kinds, jp_json *arena)
{
	jp_json *bins = jp_json_get(arena, "bins"), *large = jp_json_get(arena, "lextents");
	double sampled = 0, space = 0, untouched = 0;
	for (size_t i = 0; i < jp_json_length(bins) && i < jp_most_classes; i++) {
		jp_json *bin = jp_json_at(bins, i);
		struct jp_class_sum sum = { .size = jp_json_number(jp_json_at(kinds, i), "size") };
		double alone = (double)jp_json_number(bin, "sampled");
		sum.objects = (double)jp_json_number(bin, "curregs") - (double)jp_json_number(bin, "cached") + alone;
		sum.live = sum.objects * (double)sum.size;
		sampled += alone;
		space += alone * (double)sum.size;
		if (sum.objects > 0)
			jp_figures_add_class(to, &sum);
	}
	for (size_t i = 0; i < jp_json_length(large) && i < jp_most_classes; i++) {
		jp_json *class = jp_json_at(large, i);
		double cached = (double)jp_json_number(class, "cached");
		struct jp_class_sum sum = { .size = jp_json_number(class, "size") };
		sum.objects = (double)jp_json_number(class, "curlextents") - cached;
		sum.live = (double)jp_json_number(class, "bytes") - cached * (double)sum.size -
		           (double)jp_json_number(class, "untouched");
		untouched += (double)jp_json_number(class, "untouched");
		if (sum.objects > 0)
			jp_figures_add_class(to, &sum);
	}
	jp_known_add(&to->of[JPROF_FIGURE_SAMPLED], sampled);
	jp_known_add(&to->of[JPROF_FIGURE_SAMPLED_SPACE], space);
	to->of[JPROF_FIGURE_PADDING].bytes *= sampled; /* until here that of one object */
	return untouched;
}

/* What their extents are, and what jemalloc counts for them, which an older file does not say: 5.3.0's then. */
static void take_sampled_extents(struct jp_figures *to, jp_json *heap)
{
	double counted = to->of[JPROF_FIGURE_SAMPLED].bytes, pages = counted * jp_sampled_extent;
	if (jp_json_get(heap, "sampled_extents")) {
		counted = (double)jp_json_number(heap, "sampled_counted");
		pages = (double)jp_json_number(heap, "sampled_extents") - to->of[JPROF_FIGURE_PADDING].bytes;
	}
	jp_known_add(&to->of[JPROF_FIGURE_SAMPLED_COUNTED], counted * jp_sampled_extent);
	jp_known_add(&to->of[JPROF_FIGURE_SAMPLED_PAGES], pages);
}

/* Takes what was never touched, page by page, off what jemalloc counts: so only memory is left. PAGE becomes what is
 * in memory beside a sampled object. */
static void take_off_untouched(struct jp_figures *to, double live, jp_json *heap)
{
	double pages = (double)jp_json_number(heap, "untouched_pages");
	double cached = (double)jp_json_number(heap, "untouched_cached");
	double idle = (double)jp_json_number(heap, "untouched_idle");
	double beside = (double)jp_json_number(heap, "sampled_memory") - to->of[JPROF_FIGURE_SAMPLED_SPACE].bytes;
	if (to->of[JPROF_FIGURE_SAMPLED].bytes > 0)
		to->of[JPROF_FIGURE_PAGE].bytes = fmax(beside, 0) / to->of[JPROF_FIGURE_SAMPLED].bytes;
	double active = to->of[JPROF_FIGURE_ACTIVE].bytes - live - cached - pages;
	double given = to->of[JPROF_FIGURE_ALLOCATED].bytes - live - cached,
	       freed = to->of[JPROF_FIGURE_CACHED].bytes - cached;
	/* Small objects that a cache took and nobody used lie on these pages, too. */
	double unused = fmin(fmax(given + to->of[JPROF_FIGURE_PADDING].bytes - active, 0), fmax(freed, 0));
	to->of[JPROF_FIGURE_ALLOCATED].bytes = given - unused;
	to->of[JPROF_FIGURE_CACHED].bytes = freed - unused;
	to->of[JPROF_FIGURE_ACTIVE].bytes =
	    fmax(active, to->of[JPROF_FIGURE_ALLOCATED].bytes + to->of[JPROF_FIGURE_PADDING].bytes);
	to->of[JPROF_FIGURE_DIRTY].bytes = fmax(to->of[JPROF_FIGURE_DIRTY].bytes - idle, 0);
	to->of[JPROF_FIGURE_LARGE_PADDING].bytes = fmax(to->of[JPROF_FIGURE_LARGE_PADDING].bytes - pages, 0);
}

enum { vm_stack_size = 1 << 20 }; /* RUBY_VM_THREAD_VM_STACK_SIZE, which Ruby allocates from 3.3 on */

/* Large objects, those that are sampled among them. */
struct large_objects {
	double count, bytes, stacks; /* bytes: but for sampled small ones; stacks: of those that may be one */
};

static void add_large_objects(struct large_objects *to, jp_json *kinds, jp_json *arena)
{
	jp_json *classes = jp_json_get(arena, "lextents");
	for (size_t i = 0; i < jp_json_length(classes); i++) {
		double count = (double)jp_json_number(jp_json_at(classes, i), "curlextents"),
		       size = (double)jp_json_number(jp_json_at(kinds, i), "size");
		to->count += count;
		to->bytes += size > jp_sampled_extent ? count * size : 0;
		to->stacks += size == vm_stack_size ? count * size : 0;
	}
}

static unsigned arenas_in_use(jp_json *stats, size_t count)
{
	enum { most = 4096 };
	jp_json *arenas = jp_json_get(stats, "stats.arenas");
	unsigned used = 0;
	char name[24];
	for (size_t i = 0; i < most && i <= count; i++) {
		snprintf(name, sizeof name, "%zu", i);
		used += jp_json_number(jp_json_get(arenas, name), "pactive") > 0;
	}
	return used;
}

/* Returns the bytes of jemalloc's internal objects, which it counts as allocated, too. */
static double take_arenas(struct jp_figures *to, jp_json *stats, double page)
{
	enum { most = 4096 };
	jp_json *arenas = jp_json_get(stats, "arenas"), *arena;
	double dirty = 0, muzzy = 0, cached = 0, internal = 0;
	struct large_objects large = { 0 };
	size_t i = 0, count = jp_json_number(arenas, "narenas"), seen = 0;
	for (; i < most && i <= count; i++) {
		if (!(arena = arena_sums(stats, i)))
			continue;
		dirty += (double)jp_json_number(arena, "pdirty") * page;
		muzzy += (double)jp_json_number(arena, "pmuzzy") * page;
		cached += (double)jp_json_number(arena, "tcache_bytes");
		internal += (double)jp_json_number(arena, "internal");
		add_large_objects(&large, jp_json_get(arenas, "lextent"), arena);
		add_classes(to, jp_json_get(arenas, "bin"), arena);
		seen++;
	}
	if (!seen)
		return 0;
	jp_known_add(&to->of[JPROF_FIGURE_DIRTY], dirty);
	jp_known_add(&to->of[JPROF_FIGURE_MUZZY], muzzy);
	jp_known_add(&to->of[JPROF_FIGURE_CACHED], cached);
	jp_known_add(&to->of[JPROF_FIGURE_INTERNAL], internal);
	jp_known_add(&to->of[JPROF_FIGURE_LARGE_PADDING], large.count * page);
	jp_known_add(&to->of[JPROF_FIGURE_LARGE], large.bytes);
	jp_known_add(&to->of[JPROF_FIGURE_VM_STACKS], large.stacks);
	return internal;
}

/* Active bytes that are in no class: jemalloc 5.3.1 counts there none of the sampled objects that it rounds up to less
 * than SC_LARGE_MINCLASS, and earlier ones count all as of that. 0 where slabs are not known. */
static double active_of_no_class(jp_json *stats, double page, double padding)
{
	enum { most = 4096 };
	jp_json *arenas = jp_json_get(stats, "arenas"), *bins = jp_json_get(arenas, "bin"),
		*large = jp_json_get(arenas, "lextent"), *arena;
	size_t count = jp_json_number(arenas, "narenas");
	double bytes = 0;
	for (size_t i = 0; i < most && i <= count; i++) {
		if (!(arena = arena_sums(stats, i)))
			continue;
		bytes += (double)jp_json_number(arena, "pactive") * page;
		for (size_t k = 0; k < jp_json_length(bins); k++) {
			double slab = (double)jp_json_number(jp_json_at(bins, k), "slab_size");
			if (!(slab > 0))
				return 0;
			bytes -= (double)jp_json_number(jp_json_at(jp_json_get(arena, "bins"), k), "curslabs") * slab;
		}
		for (size_t k = 0; k < jp_json_length(large); k++) {
			double size = (double)jp_json_number(jp_json_at(large, k), "size");
			bytes -= (double)jp_json_number(jp_json_at(jp_json_get(arena, "lextents"), k), "curlextents") *
			         (size + padding);
		}
	}
	return fmax(bytes, 0);
}

static void take_settings(struct jprof_settings *to, jp_json *opt)
{
	uint64_t decay = jp_json_number(opt, "dirty_decay_ms");
	*to = (struct jprof_settings){ .known = true,
		                       .background_thread = jp_json_true(opt, "background_thread"),
		                       .dirty_decay_ms = decay < INT32_MAX ? (int64_t)decay : -1,
		                       .arenas = (unsigned)jp_json_number(opt, "narenas") };
	if (!jp_json_get(opt, "dirty_decay_ms"))
		to->dirty_decay_ms = -2;
}

/* The object that malloc_stats_print writes with "J". */
static void take_malloc_stats(struct jp_outside *to, jp_json *text)
{
	jp_json *stats = jp_json_get(text, "jemalloc"), *sums = jp_json_get(stats, "stats");
	jp_json *opt = jp_json_get(stats, "opt"), *config = jp_json_get(stats, "config");
	struct jp_figures *figures = &to->now.figures;
	uint64_t resident = jp_json_number(sums, "resident"), allocated = jp_json_number(sums, "allocated");
	double page = (double)jp_json_number(jp_json_get(stats, "arenas"), "page");
	if (!allocated || resident < allocated)
		return;
	jp_known_add(&figures->of[JPROF_FIGURE_ALLOCATED], (double)allocated);
	jp_known_add(&figures->of[JPROF_FIGURE_ACTIVE], (double)jp_json_number(sums, "active"));
	jp_known_add(&figures->of[JPROF_FIGURE_METADATA], (double)jp_json_number(sums, "metadata"));
	jp_known_add(&figures->of[JPROF_FIGURE_SPACE], (double)jp_json_number(sums, "mapped"));
	bool padded = jp_json_true(opt, "cache_oblivious") || jp_json_true(config, "cache_oblivious");
	jp_known_add(&figures->of[JPROF_FIGURE_PAGE], page);
	jp_known_add(&figures->of[JPROF_FIGURE_PADDING], padded ? page : 0);
	double internal = take_arenas(figures, stats, page);
	figures->of[JPROF_FIGURE_SAMPLED_PAGES].bytes = /* until jp_figures_of_samples */
	    active_of_no_class(stats, page, padded ? page : 0);
	jp_known_add(&to->now.kept, (double)(resident - allocated) + internal);
	take_settings(&figures->settings, opt);
	figures->settings.arenas_used = arenas_in_use(stats, jp_json_number(jp_json_get(stats, "arenas"), "narenas"));
	if (!padded)
		figures->of[JPROF_FIGURE_LARGE_PADDING].bytes = 0;
}

/* ---- Ruby ------------------------------------------------------------------------------------------------ */

static void take_gc_stat(struct jp_outside *to, const char *version, uint64_t pages, uint64_t slots,
                         uint64_t free_slots)
{
	double size = jp_gc_page_size(version, pages, slots), heap = (double)pages * size;
	if (!pages || !(size > 0))
		return;
	jp_known_add(&to->now.figures.of[JPROF_FIGURE_GC_HEAP], heap);
	if (slots >= free_slots && slots)
		jp_known_add(&to->now.figures.of[JPROF_FIGURE_GC_LIVE],
		             heap * (double)(slots - free_slots) / (double)slots);
	if (jp_gc_one_slot_size(version) && slots >= free_slots && slots)
		jp_known_add(&to->now.figures.of[JPROF_FIGURE_GC_FREE], heap * (double)free_slots / (double)slots);
}

static void take_json_gc_stat(struct jp_outside *to, const char *version, jp_json *stat)
{
	take_gc_stat(to, version, jp_json_number(stat, "heap_allocated_pages"),
	             jp_json_number(stat, "heap_available_slots"), jp_json_number(stat, "heap_free_slots"));
}

static uint64_t number_or_0(const struct jp_bundle_file *file, const char *key)
{
	uint64_t number;
	return jp_number_in_lines(file, key, &number) ? number : 0;
}

/* The JSON of a file, to be released; NULL where there is none, or it is not JSON. *rc becomes -1 when memory is short.
 */
static struct jprof_json *json_of(const struct jp_bundle_file *file, int *rc)
{
	struct jprof_json *json = NULL;
	if (file && jp_json_parse(file->data, file->len, "", &json, NULL) == JPROF_E_NOMEM)
		*rc = -1;
	return json;
}

/* GC.stat as JSON, or in lines. */
static void take_gcstat_file(struct jp_outside *to, const char *version, const struct jp_bundle_file *file, int *rc)
{
	struct jprof_json *jp_cleanup(jp_json_release) json = json_of(file, rc);
	if (json)
		take_json_gc_stat(to, version, json);
	else
		take_gc_stat(to, version, number_or_0(file, "heap_allocated_pages"),
		             number_or_0(file, "heap_available_slots"), number_or_0(file, "heap_free_slots"));
}

/* Rows of what the agent counted, by name. */
static void take_kinds(struct jp_object_sums *to, jp_json *rows)
{
	for (size_t i = 0; i < jp_json_length(rows) && i < jp_most_object_sums; i++) {
		jp_json *row = jp_json_at(rows, i);
		const char *name = jp_json_text(row, "name");
		struct jp_object_sum sum = { .count = (double)jp_json_number(row, "count"),
			                     .slots = (double)jp_json_number(row, "slots"),
			                     .own = jp_json_true(row, "own") };
		snprintf(sum.name, sizeof sum.name, "%s", name ? name : "");
		if (name)
			jp_object_sums_add(to, &sum);
	}
}

/* Where the agent's time was up before it had seen all, nothing is known. */
static void take_live_objects(struct jp_figures *to, jp_json *objects)
{
	if (!jp_json_true(objects, "complete"))
		return;
	take_kinds(&to->object_types, jp_json_get(objects, "types"));
	take_kinds(&to->object_classes, jp_json_get(objects, "classes"));
}

/* Pages that malloc gave are no live memory beside the GC heap. */
static void take_off_rubypages(struct jp_figures *to, jp_json *in_malloc)
{
	double bytes = (double)jp_json_number(in_malloc, "bytes"), pages = (double)jp_json_number(in_malloc, "pages");
	uint64_t size = jp_json_number(in_malloc, "size");
	for (unsigned i = 0; i < to->class_count; i++) {
		struct jp_class_sum *class = &to->classes[i];
		if (class->size != size || class->live < bytes || class->objects < pages)
			continue;
		class->live -= bytes;
		class->objects -= pages;
		to->of[JPROF_FIGURE_ALLOCATED].bytes -= bytes;
		to->of[JPROF_FIGURE_ACTIVE].bytes -= bytes;
	}
}

/* Ruby's own heap, from its pages. */
static void take_heap_of_ruby(struct jp_figures *to, jp_json *ruby)
{
	double bytes = (double)jp_json_number(ruby, "bytes"), unused = (double)jp_json_number(ruby, "free_bytes");
	if (!(bytes > 0))
		return;
	jp_known_add(&to->of[JPROF_FIGURE_GC_HEAP], bytes);
	jp_known_add(&to->of[JPROF_FIGURE_GC_LIVE], fmax(bytes - unused, 0));
	jp_known_add(&to->of[JPROF_FIGURE_GC_FREE], fmin(unused, bytes));
	take_live_objects(to, jp_json_get(ruby, "objects"));
	take_off_rubypages(to, jp_json_get(ruby, "in_malloc"));
}

/* What points to the live memory: docs/internals/outside.md. */
static const struct referrer_kind {
	const char *key, *kind;
} kinds_of_referrers[] = { { "ruby", "Ruby data" },
	                   { "code", "Ruby's own code" },
	                   { "file", "data of files" },
	                   { "stack", "stacks of threads" },
	                   { "other", "data of threads, and what was mapped past malloc" },
	                   { "none", "nothing that was read" },
	                   { NULL, NULL } };

/* What is in blocks that nothing points to. */
static const struct referrer_kind kinds_of_lost[] = { { "unknown", "no content that jprof knows" },
	                                              { "file", "holds pointers into" },
	                                              { "vtable", "begins with a vtable:" },
	                                              { "rest", "others" },
	                                              { NULL, NULL } };

/* "Session (libshop.so)": a type's name is as the ABI has it, without the mark of a name. */
static void name_of_type(char name[jp_referrer_name_size], const char *type, const char *file)
{
	static const char shown[] = "typeinfo name for ";
	char mangled[160];
	snprintf(mangled, sizeof mangled, "_ZTS%s", type);
	char *full = jp_demangle_with_library(mangled, false);
	bool named = full && !strncmp(full, shown, sizeof shown - 1);
	snprintf(name, jp_referrer_name_size, "%.80s (%.40s)", named ? full + sizeof shown - 1 : type, file);
	free(full);
}

static void take_referrers(struct jp_referrer_sums *to, jp_json *referrers, const struct referrer_kind *kinds)
{
	jp_json *rows = jp_json_get(referrers, "rows");
	for (size_t i = 0; i < jp_json_length(rows) && i < jp_most_referrers; i++) {
		jp_json *row = jp_json_at(rows, i);
		const char *key = jp_json_text(row, "kind"), *name = jp_json_text(row, "name");
		struct jp_referrer_sum sum = { .blocks = (double)jp_json_number(row, "blocks"),
			                       .bytes = (double)jp_json_number(row, "bytes"),
			                       .own = jp_json_true(row, "own"),
			                       .size = jp_json_number(row, "size") };
		for (size_t k = 0; key && kinds[k].key; k++)
			sum.kind = strcmp(key, kinds[k].key) ? sum.kind : kinds[k].kind;
		const char *type = jp_json_text(row, "type");
		snprintf(sum.name, sizeof sum.name, "%s", name ? name : "");
		if (type && name)
			name_of_type(sum.name, type, name);
		if (sum.kind)
			jp_referrer_sums_add(to, &sum);
	}
}

/* Where not all memory was read, nothing is known. */
static void take_unreachable(struct jp_figures *to, jp_json *lost)
{
	if (!jp_json_true(lost, "known"))
		return;
	take_referrers(&to->unreachable, lost, kinds_of_lost);
	jp_known_add(&to->of[JPROF_FIGURE_UNREACHABLE], (double)jp_json_number(lost, "bytes"));
	to->roots = (unsigned)(jp_json_number(lost, "mappings") + jp_json_number(lost, "stacks"));
}

/* A version is digits, points and few words. */
static void take_heap_seen(struct jprof_heap_seen *to, jp_json *heap)
{
	const char *version = jp_json_text(jp_json_get(heap, "jemalloc"), "version");
	static const char in_versions[] = "0123456789.- abcdefghijklmnopqrstuvwxyz";
	bool good = version && *version && strspn(version, in_versions) == strlen(version);
	*to = (struct jprof_heap_seen){ .caches = jp_json_number(heap, "caches"),
		                        .caches_known = jp_json_true(heap, "caches_known"),
		                        .torn = jp_json_number(heap, "torn"),
		                        .misfits = jp_json_number(heap, "misfits"),
		                        .cut = jp_json_true(heap, "cut"),
		                        .core = jp_json_true(heap, "core"),
		                        .missing = jp_json_number(heap, "missing"),
		                        .samples = jp_json_number(jp_json_get(heap, "profile"), "samples"),
		                        .rate = jp_json_number(jp_json_get(heap, "profile"), "rate") };
	jp_json *other = jp_json_get(heap, "malloc");
	const char *name = jp_json_text(other, "name");
	if (name && *name && !name[strspn(name, "abcdefghijklmnopqrstuvwxyz")])
		snprintf(to->malloc, sizeof to->malloc, "%s", name);
	else
		snprintf(to->jemalloc, sizeof to->jemalloc, "%s", good ? version : "of an unknown version");
	uint64_t arenas = jp_json_number(other, "arenas");
	to->arenas = arenas <= UINT16_MAX + 1U ? (unsigned)arenas : 0;
}

/* Whether an address space has room for it. */
static bool is_possible(const struct jp_figures *f)
{
	static const double most = 0x1p57;
	bool good = f->object_types.count <= jp_most_object_sums;
	for (int i = 0; i < JPROF_FIGURES; i++)
		good = good && fabs(f->of[i].bytes) <= most;
	for (unsigned i = 0; i < f->class_count; i++)
		good = good && f->classes[i].live >= 0 && f->classes[i].live <= most && f->classes[i].slabs <= most;
	for (unsigned i = 0; i < f->object_types.count; i++)
		good = good && f->object_types.of[i].slots <= most && f->object_types.of[i].count <= most;
	for (unsigned i = 0; i < f->object_classes.count; i++)
		good = good && f->object_classes.of[i].slots <= most && f->object_classes.of[i].count <= most;
	for (unsigned i = 0; i < f->referrers.count; i++)
		good = good && f->referrers.of[i].bytes <= most && f->referrers.of[i].blocks <= most;
	for (unsigned i = 0; i < f->unreachable.count; i++)
		good = good && f->unreachable.of[i].bytes <= most && f->unreachable.of[i].blocks <= most;
	return good;
}

static void take_other_malloc(struct jp_figures *to, jp_json *other)
{
	if (jp_json_number(other, "arenas"))
		jp_known_add(&to->of[JPROF_FIGURE_ARENAS], (double)jp_json_number(other, "unused"));
}

static void take_v8(struct jp_figures *to, jp_json *v8)
{
	if (v8)
		jp_known_add(&to->of[JPROF_FIGURE_V8], (double)jp_json_number(v8, "bytes"));
}

/* Beside a dump: V8 maps its chunks without a reserve, as jemalloc does, and they are none of jemalloc's. */
static void take_v8_file(struct jp_figures *to, const struct jp_bundle_file *file, int *rc)
{
	struct jprof_json *jp_cleanup(jp_json_release) json = json_of(file, rc);
	struct jp_figures more = { 0 };
	if (!json)
		return;
	jp_json *v8 = jp_json_get(json, "v8");
	struct jp_known_sum *touched = &to->of[JPROF_FIGURE_MAPPED], *space = &to->of[JPROF_FIGURE_MAPPED_SPACE];
	take_v8(&more, v8);
	double bytes = more.of[JPROF_FIGURE_V8].bytes, chunks = (double)jp_json_number(v8, "space");
	if (!is_possible(&more) || bytes > touched->bytes || chunks > space->bytes)
		return;
	touched->bytes -= bytes;
	space->bytes -= chunks;
	jp_known_add(&to->of[JPROF_FIGURE_V8], bytes);
}

/* Beside a dump: what points to the live memory, and to which of it nothing does. */
static void take_outside_file(struct jp_figures *to, const struct jp_bundle_file *file, int *rc)
{
	struct jprof_json *jp_cleanup(jp_json_release) json = json_of(file, rc);
	struct jp_figures more = { 0 };
	if (!json)
		return;
	take_referrers(&more.referrers, jp_json_get(json, "referrers"), kinds_of_referrers);
	take_unreachable(&more, jp_json_get(json, "unreachable"));
	if (is_possible(&more))
		jp_figures_add(to, &more);
}

/* What was read in the memory of the process: docs/internals/outside.md. One whose numbers no process can have says
 * nothing. */
static void take_heap(struct jp_outside *to, jp_json *heap)
{
	struct jp_outside more = { 0 };
	struct jp_figures *figures = &more.now.figures;
	jp_json *stats = jp_json_get(heap, "jemalloc");
	take_malloc_stats(&more, heap);
	take_other_malloc(figures, jp_json_get(heap, "malloc"));
	double live = add_live_classes(figures, jp_json_get(jp_json_get(stats, "arenas"), "bin"),
	                               jp_json_get(jp_json_get(stats, "stats.arenas"), "merged"));
	take_sampled_extents(figures, heap);
	if (figures->of[JPROF_FIGURE_ALLOCATED].of)
		take_off_untouched(figures, live, heap);
	take_heap_of_ruby(figures, jp_json_get(heap, "ruby"));
	take_v8(figures, jp_json_get(heap, "v8"));
	take_referrers(&figures->referrers, jp_json_get(heap, "referrers"), kinds_of_referrers);
	take_unreachable(figures, jp_json_get(heap, "unreachable"));
	take_heap_seen(&figures->seen, heap);
	if (is_possible(figures))
		jp_outside_add(to, &more, 1);
}

static bool version_of_ruby_file(const char *path, char version[8])
{
	const char *base = jp_basename(path);
	unsigned number = jp_is_ruby_file(path) ? jp_ruby_version_number(base + strcspn(base, "0123456789")) : 0;
	if (number)
		snprintf(version, 8, "%u.%u", number / 100 % 100, number % 100);
	return number;
}

bool jp_ruby_version_of(const struct jprof_profile *p, char version[8])
{
	for (uint32_t i = 0; i < jp_object_count(p); i++)
		if (version_of_ruby_file(jp_string(p, p->objects[i].path), version))
			return true;
	return false;
}

bool jp_ruby_version_mapped(const struct jp_bundle_member *member, char version[8])
{
	const struct jp_bundle_file *maps = jp_bundle_file(member, "maps");
	struct jp_reader reader;
	struct jp_span line;
	char path[1024];
	jp_reader_init(&reader, maps ? maps->data : "", maps ? maps->len : 0);
	while (jp_reader_line(&reader, &line)) {
		const char *slash = memchr(line.ptr, '/', line.len);
		size_t len = slash ? (size_t)(line.ptr + line.len - slash) : sizeof path;
		if (len >= sizeof path)
			continue;
		snprintf(path, sizeof path, "%.*s", (int)len, slash);
		if (version_of_ruby_file(path, version))
			return true;
	}
	return false;
}

/* ---- what there is --------------------------------------------------------------------------------------- */

void jp_figures_of_sidecar(struct jp_outside *to, jp_json *sidecar)
{
	jp_json *ruby = jp_json_get(sidecar, "ruby");
	const char *version = jp_json_text(ruby, "version");
	take_malloc_stats(to, jp_json_get(sidecar, "malloc_stats"));
	take_json_gc_stat(to, version, jp_json_get(ruby, "gc_stat"));
	const char *gc = jp_json_text(ruby, "gc");
	jp_known_add(&to->now.figures.of[JPROF_FIGURE_GC_RUN], gc && !strcmp(gc, "done"));
	take_live_objects(&to->now.figures, jp_json_get(ruby, "objects"));
	if (jp_json_get(ruby, "tables"))
		jp_known_add(&to->now.figures.of[JPROF_FIGURE_TABLES], (double)jp_json_number(ruby, "tables"));
	if (version)
		snprintf(to->now.figures.settings.ruby, sizeof to->now.figures.settings.ruby, "%s", version);
}

int jp_figures_of_member(struct jp_outside *to, const struct jp_bundle_member *member, const char *ruby)
{
	const struct jp_bundle_file *gc_file = jp_bundle_file(member, "gcstat.json");
	int rc = 0;
	to->now.processes++;
	jp_figures_of_proc(to, member);
	if (!jp_has_transient_heap(ruby))
		to->now.figures.of[JPROF_FIGURE_TRANSIENT] = (struct jp_known_sum){ 0 };
	take_v8_file(&to->now.figures, jp_bundle_file(member, "v8.json"), &rc);
	take_outside_file(&to->now.figures, jp_bundle_file(member, "outside.json"), &rc);
	if (jp_bundle_file(member, "agent.json"))
		return rc;
	struct jprof_json *jp_cleanup(jp_json_release) stats = json_of(jp_bundle_file(member, "stats.json"), &rc);
	struct jprof_json *jp_cleanup(jp_json_release) heap =
	    stats ? NULL : json_of(jp_bundle_file(member, "heap.json"), &rc);
	if (stats)
		take_malloc_stats(to, stats);
	if (heap)
		take_heap(to, heap);
	if (gc_file)
		take_gcstat_file(to, ruby, gc_file, &rc);
	if (ruby)
		snprintf(to->now.figures.settings.ruby, sizeof to->now.figures.settings.ruby, "%s", ruby);
	return rc;
}

void jp_bound_vm_stacks(struct jp_figures *figures, const struct jp_bundle_member *member)
{
	enum { first = 303 };
	struct jp_known_sum *stacks = &figures->of[JPROF_FIGURE_VM_STACKS];
	uint64_t threads = number_or_0(jp_bundle_file(member, "status"), "Threads");
	bool mallocs = jp_ruby_version_number(figures->settings.ruby) >= first;
	stacks->bytes = mallocs ? fmin(stacks->bytes, (double)threads * vm_stack_size) : 0;
}

/* Small objects that are sampled: what they hold; their pages, and how many have as many as the smallest class without
 * slabs, where jemalloc gives them no more than they need. */
struct sampled_objects {
	double objects, space, pages, large;
};

static void add_sampled(struct sampled_objects *s, double count, double bytes, double page)
{
	double size = page > 0 ? ceil(bytes / count / page) * page : 0;
	s->objects += count;
	s->space += bytes;
	s->pages += count * size;
	s->large += size >= jp_sampled_extent ? count : 0;
}

void jp_figures_of_samples(struct jp_outside *to, const struct jprof_profile *p)
{
	struct jp_known_sum *of = to->now.figures.of, *padding = &of[JPROF_FIGURE_PADDING];
	struct jp_known_sum *large = &of[JPROF_FIGURE_LARGE_PADDING], *pages = &of[JPROF_FIGURE_SAMPLED_PAGES];
	double page = of[JPROF_FIGURE_PAGE].bytes;
	struct sampled_objects s = { 0 };
	if (of[JPROF_FIGURE_SAMPLED].of && (!p->rate || *to->now.figures.seen.jemalloc))
		return; /* they were counted in the memory of the process */
	for (uint32_t i = 0; i < jp_sample_count(p); i++) {
		const struct jp_sample *sample = &p->samples.items[i];
		uint64_t counted[JPROF_COUNTERS];
		jp_sample_counted(&p->samples, sample, counted);
		double count = (double)counted[JPROF_INUSE_OBJECTS], bytes = (double)counted[JPROF_INUSE_SPACE];
		if (sample->sum == JP_NONE && count > 0 && bytes / count < jp_sampled_extent)
			add_sampled(&s, count, bytes, page);
	}
	/* Twice what these pages are, or nothing, would be as far from this. */
	bool by_class = pages->bytes < s.pages / 2 || !(page > 0);
	double counted = by_class ? s.objects * jp_sampled_extent : s.large * jp_sampled_extent;
	double extents = by_class ? counted : s.pages;
	large->bytes = fmax(large->bytes - padding->bytes * (by_class ? s.objects : s.large), 0);
	padding->bytes *= s.objects; /* until here that of one object */
	pages->bytes = 0;
	if (p->rate) {
		jp_known_add(&of[JPROF_FIGURE_SAMPLED], s.objects);
		jp_known_add(&of[JPROF_FIGURE_SAMPLED_SPACE], s.space);
		jp_known_add(&of[JPROF_FIGURE_SAMPLED_COUNTED], counted);
		jp_known_add(pages, extents);
		if (to->now.kept.of)
			to->now.kept.bytes -= extents - counted;
	} else {
		*padding = (struct jp_known_sum){ 0 };
	}
}
