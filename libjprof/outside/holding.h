/* All that is found in the memory of a process, and its member of a bundle. */
#pragma once

#include "outside/jeprofile.h"
#include "outside/othermalloc.h"
#include "outside/referrers.h"
#include "outside/rubysymbols.h"
#include "outside/v8heap.h"

struct jp_holding {
	struct jp_jeheap jemalloc;
	struct jp_jeextents extents;
	struct jp_jeprofile profile;
	struct jp_rubypages pages; /* of what is no Ruby there are none */
	struct jp_rubynames names;
	struct jp_rubycensus census;
	struct jp_referrers referrers;
	struct jp_lostblocks lost;
	struct jp_v8heap v8;
	struct jp_othermalloc other; /* of a Ruby, or a V8, without jemalloc */
	bool core;                   /* set by the caller, as the next: it was a core */
	uint64_t missing;            /* bytes that were cut off */
	const char *graph_why; /* why there is no graph of Ruby's objects; NULL: there is, or it was not asked for */
};

/* Reads it. 0, also where there is no jemalloc, or -1 when memory is short. To be emptied in either case. */
int jp_holding_read(struct jp_memsource *source, const struct jp_mapped_files *files,
                    const struct jprof_heap_opts *opts, struct jp_holding *holding) jp_must_check;

/* Whether there is something to write: a jemalloc, or a Ruby or a V8 with a malloc that is known. */
bool jp_holding_tells(const struct jp_holding *holding);

/* Writes heap.json: docs/internals/outside.md. 0, or -1 when memory is short. */
int jp_holding_write(const struct jp_holding *holding, struct jp_memsource *source, const struct jprof_heap_opts *opts,
                     struct jp_strbuf *text) jp_must_check;

/* Writes outside.json: what heap.json has of what points to the blocks. The same answers. */
int jp_holding_write_beside(const struct jp_holding *holding, struct jp_memsource *source,
                            const struct jprof_heap_opts *opts, struct jp_strbuf *text) jp_must_check;

/* Whether what nothing points to is asked for in any case, or it is much. */
bool jp_holding_lost_much(const struct jp_holding *holding, const struct jprof_heap_opts *opts);

/* Hands the profile to opts->dump, where there are both; with `ages`, unless that is NULL, in epochs. 0, or -1 when
 * memory is short, or it did not return 0. */
int jp_holding_dump(const struct jp_holding *holding, struct jp_memsource *source, struct jp_jeages *ages,
                    const struct jprof_heap_opts *opts) jp_must_check;

/* Adds unreachable.heap to the member: the profile of the blocks that nothing points to. Nothing, and 0, where none of
 * them was sampled. */
int jp_holding_lost(const struct jp_holding *holding, const struct jp_memsource *source,
                    struct jprof_bundle_writer *writer, struct jprof_error *err) jp_must_check;

/* Adds the graph of Ruby's objects to the member, where opts->graph asks for it. Else, and where there is none, 0. */
int jp_holding_graph(struct jp_holding *holding, struct jp_memsource *source, const struct jprof_heap_opts *opts,
                     struct jprof_bundle_writer *writer, struct jprof_error *err) jp_must_check;

/* What is worth a word. */
struct jprof_heap_seen jp_holding_seen(const struct jp_holding *holding);

void jp_holding_empty(struct jp_holding *holding);
