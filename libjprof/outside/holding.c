#include "outside/holding.h"

#include <stdio.h>

#include "base/error.h"
#include "outside/chunkowners.h"
#include "outside/lostsamples.h"
#include "outside/mappedids.h"
#include "outside/rubygraph.h"

static const uint64_t most_marking = 64ULL << 30; /* a block is read several times where it lies among others */
static const uint64_t most_glanced = 1ULL << 30;

void jp_holding_empty(struct jp_holding *h)
{
	jp_jeextents_release(&h->extents);
	jp_jeprofile_release(&h->profile);
	jp_rubypages_release(&h->pages);
	jp_rubycensus_release(&h->census);
	jp_referrers_release(&h->referrers);
	jp_lostblocks_release(&h->lost);
	jp_othermalloc_release(&h->other);
	*h = (struct jp_holding){ 0 };
}

/* Who points to live memory; with another malloc what Ruby's objects have there. */
static int find_referrers(struct jp_memsource *source, const struct jprof_heap_opts *opts, struct jp_holding *h)
{
	source->left += most_marking;
	if (h->jemalloc.version)
		return jp_referrers_find(source, &h->extents, &h->jemalloc, &h->pages, &h->names, &h->census,
		                         opts->unreachable ? &h->lost : NULL, &h->referrers);
	return h->pages.count && jp_othermalloc_has_blocks(&h->other)
	           ? jp_chunkowners_find(source, &h->other, &h->pages, &h->names, &h->census, &h->referrers)
	           : 0;
}

int jp_holding_read(struct jp_memsource *source, const struct jp_mapped_files *files,
                    const struct jprof_heap_opts *opts, struct jp_holding *h)
{
	uint64_t variables[jp_ruby_known];
	if (jp_jeheap_take(source, &h->jemalloc, &h->extents) ||
	    jp_jeprofile_take(source, &h->jemalloc, &h->extents, &h->profile) || jp_rubypages_find(source, &h->pages))
		return -1;
	h->v8 = jp_v8heap_find(source);
	if ((h->pages.count || h->v8.chunks) && !h->jemalloc.version && jp_othermalloc_find(source, &h->other))
		return -1;
	if (h->pages.count) {
		if (jp_ruby_variables(files, source, variables))
			return -1;
		h->names = jp_rubynames_learn(source, &h->pages, variables);
		if (jp_rubycensus_take(source, &h->pages, &h->names, &h->extents, &h->other, &h->census))
			return -1;
	}
	bool small = !opts->if_much || jp_jeheap_allocated(&h->jemalloc) <= most_glanced;
	return opts->referrers || (opts->unreachable && small) ? find_referrers(source, opts, h) : 0;
}

bool jp_holding_lost_much(const struct jp_holding *h, const struct jprof_heap_opts *opts)
{
	uint64_t bytes = jp_lostblocks_bytes(&h->lost);
	return !opts->if_much || (bytes >= 1 << 20 && bytes >= jp_jeheap_allocated(&h->jemalloc) / 100);
}

static void put_other_malloc(const struct jp_othermalloc *o, struct jp_jsonout *j)
{
	jp_jsonout_string(j, "source", "memory of the process");
	jp_jsonout_open(j, "malloc", '{', false);
	jp_jsonout_string(j, "name", o->name);
	jp_jsonout_uint(j, "arenas", o->arenas);
	jp_jsonout_uint(j, "unused", o->unused);
	jp_jsonout_close(j);
}

static uint64_t rate_of(const struct jp_jeprofile *p)
{
	return p->count ? 1ULL << p->lg_rate : 0;
}

static void put_profile(const struct jp_jeprofile *p, struct jp_jsonout *j)
{
	jp_jsonout_open(j, "profile", '{', false);
	jp_jsonout_uint(j, "rate", rate_of(p));
	jp_jsonout_uint(j, "samples", p->sample_count);
	jp_jsonout_close(j);
}

bool jp_holding_tells(const struct jp_holding *h)
{
	return h->jemalloc.version || h->other.name;
}

static int put_what_points(const struct jp_holding *h, struct jp_memsource *source, const struct jprof_heap_opts *opts,
                           struct jp_jsonout *j)
{
	if (h->referrers.count)
		jp_referrers_write(&h->referrers, j);
	return opts->unreachable && h->jemalloc.version
	           ? jp_lostblocks_write(&h->lost, source, &h->extents, h->jemalloc.padded, opts, j)
	           : 0;
}

int jp_holding_write_beside(const struct jp_holding *h, struct jp_memsource *source, const struct jprof_heap_opts *opts,
                            struct jp_strbuf *text)
{
	struct jp_jsonout j = { .out = text };
	jp_jsonout_open(&j, NULL, '{', false);
	int failed = put_what_points(h, source, opts, &j);
	jp_jsonout_close(&j);
	jp_strbuf_str(text, "\n");
	return failed || text->failed ? -1 : 0;
}

int jp_holding_write(const struct jp_holding *h, struct jp_memsource *source, const struct jprof_heap_opts *opts,
                     struct jp_strbuf *text)
{
	struct jp_jsonout j = { .out = text };
	jp_jsonout_open(&j, NULL, '{', false);
	if (h->jemalloc.version)
		jp_jeheap_write(&h->jemalloc, &j);
	else
		put_other_malloc(&h->other, &j);
	if (h->profile.sample_count)
		put_profile(&h->profile, &j);
	if (h->core)
		jp_jsonout_bool(&j, "core", true);
	if (h->core)
		jp_jsonout_uint(&j, "missing", h->missing);
	if (h->v8.chunks)
		jp_v8heap_write(&h->v8, &j);
	if (h->census.pages)
		jp_rubycensus_write(&h->census, &j);
	int failed = put_what_points(h, source, opts, &j);
	jp_jsonout_close(&j);
	jp_strbuf_str(text, "\n");
	return failed || text->failed ? -1 : 0;
}

int jp_holding_dump(const struct jp_holding *h, struct jp_memsource *source, struct jp_jeages *ages,
                    const struct jprof_heap_opts *opts)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 }, jp_cleanup(jp_strbuf_release) ids = { 0 },
						       jp_cleanup(jp_strbuf_release) table = { 0 };
	if (!h->profile.count || !opts->dump)
		return 0;
	if (jp_jeprofile_write(&h->profile, source, ages, &text) || jp_mapped_ids_write(source, &ids))
		return -1;
	if (ages)
		jp_jeages_write(ages, &text, &table);
	if (table.failed)
		return -1;
	const struct jprof_heap_dump dump = { text.text, ids.text, text.len, ids.len, table.text, table.len };
	return opts->dump(opts->dump_context, &dump) ? -1 : 0;
}

int jp_holding_lost(const struct jp_holding *h, const struct jp_memsource *source, struct jprof_bundle_writer *writer,
                    struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	if (jp_lostsamples_write(&h->lost, &h->profile, source, &text))
		return jp_error_nomem(err);
	return text.len ? jprof_bundle_writer_file(writer, "unreachable.heap", text.text, text.len, err) : 0;
}

int jp_holding_graph(struct jp_holding *h, struct jp_memsource *source, const struct jprof_heap_opts *opts,
                     struct jprof_bundle_writer *writer, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	const struct jp_rubygraph graph = { source, &h->extents, &h->jemalloc, &h->pages, &h->names, 0 };
	if (!opts->graph)
		return 0;
	source->left += most_marking;
	if (jp_rubygraph_write(&graph, &text, &h->graph_why))
		return jp_error_nomem(err);
	return h->graph_why ? 0 : jprof_bundle_writer_file(writer, "graph", text.text, text.len, err);
}

struct jprof_heap_seen jp_holding_seen(const struct jp_holding *holding)
{
	const struct jp_jeheap *h = &holding->jemalloc;
	struct jprof_heap_seen seen = { .caches = h->caches,
		                        .caches_known = h->caches_known,
		                        .torn = h->torn,
		                        .misfits = h->misfits,
		                        .cut = h->cut,
		                        .core = holding->core,
		                        .missing = holding->missing,
		                        .samples = holding->profile.sample_count,
		                        .rate = rate_of(&holding->profile),
		                        .graph_why = holding->graph_why };
	snprintf(seen.jemalloc, sizeof seen.jemalloc, "%s", h->version ? h->version : "");
	snprintf(seen.malloc, sizeof seen.malloc, "%s", holding->other.name ? holding->other.name : "");
	seen.arenas = holding->other.arenas;
	return seen;
}
