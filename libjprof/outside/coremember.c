/* A core as a member of a bundle: what its memory says, and what /proc would have said as far as a core tells. */
#include <stdio.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/opts.h"
#include "outside/coresource.h"
#include "outside/holding.h"

/* Whether jemalloc has an extent in a mapping, or data of its own. */
static bool is_of_malloc(void *context, const struct jprof_map *map)
{
	const struct jp_jeextents *x = context;
	for (size_t low = 0, high = x->count; low < high;) {
		size_t middle = low + (high - low) / 2;
		const struct jp_jeextent *e = &x->items[middle];
		if (e->base < map->limit && map->start < e->base + e->size)
			return true;
		if (e->base < map->start)
			low = middle + 1;
		else
			high = middle;
	}
	return map->limit > map->start && jp_jeextents_own(x, map->start / jp_memory_unit) &&
	       jp_jeextents_own(x, (map->limit - 1) / jp_memory_unit);
}

/* A file without holes does not tell which pages of zeros were touched. Those of slabs were, most of them: calloc()
 * did. */
static uint64_t zeros_of_slabs(struct jp_memsource *source, const struct jp_jeextents *x)
{
	uint64_t bytes = 0;
	for (size_t i = 0; i < x->count; i++)
		if (x->items[i].slab && jp_jeextent_places(&x->items[i]))
			bytes += jp_memsource_untouched(source, x->items[i].base, x->items[i].size);
	return bytes;
}

static int add_core_text(struct jprof_bundle_writer *writer, const char *name, const struct jp_strbuf *text,
                         struct jprof_error *err)
{
	if (text->failed)
		return jp_error_nomem(err);
	return jprof_bundle_writer_file(writer, name, text->text ? text->text : "", text->len, err);
}

static int add_core_files(struct jp_memsource *source, const struct jp_core_facts *facts, struct jp_holding *h,
                          const struct jprof_heap_opts *opts, struct jprof_bundle_writer *writer,
                          struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) heap = { 0 }, jp_cleanup(jp_strbuf_release) maps = { 0 },
						       jp_cleanup(jp_strbuf_release) smaps = { 0 },
						       jp_cleanup(jp_strbuf_release) status = { 0 };
	struct jprof_bundle_member member = { .size = sizeof member,
		                              .pid = (uint64_t)facts->pid,
		                              .title = *facts->name ? facts->name : NULL,
		                              .time = facts->time };
	uint64_t first, last;
	bool timed = jp_jeprofile_times(&h->profile, &first, &last);
	struct jp_jeages jp_cleanup(jp_jeages_release) ages =
	    jp_jeages_of_core(facts->pid, timed ? first : 0, timed ? last : 0, facts->time, source->maps);
	if (jp_holding_dump(h, source, timed ? &ages : NULL, opts) || jp_holding_write(h, source, opts, &heap))
		return jp_error_nomem(err);
	jp_coresource_smaps(source, is_of_malloc, &h->extents, &maps, &smaps);
	uint64_t memory = facts->memory + (facts->holes ? 0 : zeros_of_slabs(source, &h->extents));
	jp_strbuf_printf(&status, "VmRSS: %llu kB\nRssAnon: %llu kB\nRssFile: 0 kB\nRssShmem: 0 kB\nVmSwap: 0 kB\n",
	                 (unsigned long long)memory / 1024, (unsigned long long)memory / 1024);
	int rc = jprof_bundle_writer_member(writer, &member, err);
	rc = rc ? rc : add_core_text(writer, "heap.json", &heap, err);
	rc = rc ? rc : jp_holding_lost(h, source, writer, err);
	rc = rc ? rc : jp_holding_graph(h, source, opts, writer, err);
	rc = rc ? rc : add_core_text(writer, "maps", &maps, err);
	rc = rc ? rc : add_core_text(writer, "smaps", &smaps, err);
	return rc ? rc : add_core_text(writer, "status", &status, err);
}

static int refuse_core(const char *path, const struct jp_core_facts *facts, struct jprof_error *err)
{
	static const double mb = 1048576;
	if (facts->missing)
		return jp_error(
		    err, JPROF_E_FORMAT, path, 0,
		    "the core was cut: %.1f MB of it are missing, and what jemalloc's tables begin with was "
		    "not found in the rest",
		    (double)facts->missing / mb);
	return jp_error(err, JPROF_E_FORMAT, path, 0, "there is no jemalloc in this core that jprof knows");
}

static int add_core(const char *path, struct jp_memsource *source, const struct jp_core_facts *facts,
                    const struct jprof_heap_opts *opts, struct jp_holding *h, struct jprof_bundle_writer *writer,
                    struct jprof_error *err)
{
	const struct jp_mapped_files files = jp_files_of_core();
	if (jp_holding_read(source, &files, opts, h))
		return jp_error_nomem(err);
	if (!jp_holding_tells(h))
		return refuse_core(path, facts, err);
	h->core = true;
	h->missing = facts->missing;
	h->lost.known = h->lost.known && !facts->missing;
	return add_core_files(source, facts, h, opts, writer, err);
}

int jprof_core_heap(const char *path, const struct jprof_heap_opts *given, struct jprof_bundle_writer *writer,
                    struct jprof_heap_seen *seen, struct jprof_error *err)
{
	if (jp_null(err, path, writer, seen))
		return JPROF_E_ARGUMENT;
	struct jp_memsource *source;
	struct jp_core_facts facts;
	struct jprof_heap_opts opts;
	int rc = jp_opts_take(&opts, sizeof opts, given, err);
	rc = rc ? rc : jp_coresource_open(path, &source, &facts, err);
	if (rc)
		return rc;
	struct jp_holding *h = calloc(1, sizeof *h);
	rc = h ? add_core(path, source, &facts, &opts, h, writer, err) : jp_error_nomem(err);
	if (!rc)
		*seen = jp_holding_seen(h);
	if (h)
		jp_holding_empty(h);
	free(h);
	jp_memsource_close(source);
	return rc;
}
