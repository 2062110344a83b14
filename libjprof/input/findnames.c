#include "input/findnames.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/intern.h"
#include "base/search.h"
#include "input/demangle.h"
#include "input/objnames.h"
#include "input/splitunit.h"
#include "input/symtab.h"
#include "input/wrapper_targets.h"

/* A question under way. */
struct name_search {
	const struct jp_name_request *request;
	struct jp_objnames *names;
	struct jp_lookup
	    *lookups; /* of the offsets that lie in code; `location` is the offset's place in the request */
	size_t count;
	struct jp_namereply reply;
	size_t frame_cap, function_cap;
	struct jp_intern functions; /* by the addresses of name and file */
	struct jp_strbuf full, brief;
};

/* ---- lookups ------------------------------------------------------------------------------------ */

static int by_lookup_vaddr(const void *a, const void *b)
{
	const struct jp_lookup *x = a, *y = b;
	return jp_order_by(x->vaddr, y->vaddr, jp_order(x->location, y->location));
}

/* Segments may lie in another order than the offsets in them. */
static void sort_lookups(struct name_search *f)
{
	size_t i = 1;
	while (i < f->count && f->lookups[i - 1].vaddr <= f->lookups[i].vaddr)
		i++;
	if (i < f->count)
		qsort(f->lookups, f->count, sizeof *f->lookups, by_lookup_vaddr);
}

static int make_lookups(struct name_search *f)
{
	const struct jp_name_request *q = f->request;
	f->lookups = calloc(q->count + 1, sizeof *f->lookups);
	for (size_t i = 0; f->lookups && i < q->count; i++) {
		uint64_t vaddr = q->offsets[i];
		if (q->image || jp_objfile_vaddr(f->names->object.object, q->offsets[i], &vaddr))
			f->lookups[f->count++] = (struct jp_lookup){ .vaddr = vaddr, .location = (uint32_t)i };
	}
	if (f->lookups)
		sort_lookups(f);
	return f->lookups ? 0 : -1;
}

/* ---- places ------------------------------------------------------------------------------------- */

static int describe(struct name_search *f, const struct jp_symframe *frame, struct jp_reply_function *function)
{
	struct jp_arena *arena = &f->reply.arena;
	*function = (struct jp_reply_function){ .linkage = frame->name, .file = frame->file };
	if (!frame->name)
		return 0;
	jp_strbuf_cut(&f->full, 0);
	jp_strbuf_cut(&f->brief, 0);
	if (frame->shown)
		jp_strbuf_str(&f->full, frame->shown);
	else
		jp_demangle(frame->name, &f->full, &f->brief);
	if (frame->brief) {
		jp_strbuf_cut(&f->brief, 0);
		jp_strbuf_str(&f->brief, frame->brief);
	} else if (frame->shown) {
		jp_shorten(frame->shown, &f->brief);
	}
	if (!f->brief.len)
		jp_strbuf_str(&f->brief, f->full.text ? f->full.text : "");
	if (f->full.failed || f->brief.failed)
		return -1;
	function->name = jp_arena_dup(arena, f->full.text, f->full.len);
	function->brief = jp_arena_dup(arena, f->brief.text, f->brief.len);
	return function->name && function->brief ? 0 : -1;
}

/* Each function once, so that its name is demangled once. */
static uint32_t reply_function(struct name_search *f, const struct jp_symframe *frame)
{
	const void *key[] = { frame->name, frame->shown, frame->file };
	struct jp_namereply *r = &f->reply;
	uint32_t id = jp_intern(&f->functions, key, sizeof key);
	if (id == JP_NONE || id < r->function_count)
		return id;
	if (jp_array_push(r->functions, r->function_count, f->function_cap) ||
	    describe(f, frame, &r->functions[r->function_count]))
		return JP_NONE;
	return r->function_count++;
}

static int add_frames(struct name_search *f, const struct jp_lookup *lookup)
{
	struct jp_namereply *r = &f->reply;
	if (jp_array_reserve(&r->frames, &f->frame_cap, (size_t)r->frame_count + lookup->frame_count,
	                     sizeof *r->frames))
		return -1;
	for (unsigned i = 0; i < lookup->frame_count; i++) {
		const struct jp_symframe *frame = &lookup->frames[i];
		uint32_t function = reply_function(f, frame);
		if (function == JP_NONE)
			return -1;
		r->frames[r->frame_count++] = (struct jp_reply_frame){ function, frame->line, frame->inlined };
	}
	return 0;
}

static enum jp_nameless reason_of(const struct jp_lookup *lookup)
{
	if (lookup->pending)
		return JP_NAMELESS_PENDING;
	if (lookup->frame_count && lookup->frames[lookup->frame_count - 1].name)
		return JP_NAMED;
	return lookup->fde_start < lookup->fde_end ? JP_NAMELESS_FUNCTION : JP_NAMELESS_CODE;
}

static void put_function_bounds(const struct name_search *f, struct jp_reply_place *place)
{
	uint64_t start, end;
	if (jp_objnames_function(f->names, place->vaddr, &start, &end) && start < end) {
		place->fde_start = start;
		place->fde_end = end;
	}
}

/* Frames stand in the order of the places, not of the addresses. */
static int add_places(struct name_search *f)
{
	struct jp_namereply *r = &f->reply;
	const struct jp_lookup **at = calloc(f->request->count + 1, sizeof *at);
	int rc = at ? 0 : -1;
	for (size_t i = 0; !rc && i < f->count; i++)
		at[f->lookups[i].location] = &f->lookups[i];
	for (uint32_t i = 0; !rc && i < r->place_count; i++) {
		r->places[i] = (struct jp_reply_place){ .reason = JP_NAMELESS_OUTSIDE, .want = JP_NONE };
		if (!at[i])
			continue;
		f->reply.places[at[i]->location] =
		    (struct jp_reply_place){ .vaddr = at[i]->vaddr,
			                     .fde_start = at[i]->fde_start,
			                     .fde_end = at[i]->fde_end,
			                     .source = at[i]->source,
			                     .reason = reason_of(at[i]),
			                     .want = at[i]->pending ? at[i]->want : JP_NONE };
		if (f->request->functions)
			put_function_bounds(f, &r->places[i]);
		r->places[i].frame_first = r->frame_count;
		r->places[i].frame_count = at[i]->pending ? 0 : at[i]->frame_count;
		rc = at[i]->pending ? 0 : add_frames(f, at[i]);
	}
	free(at);
	return rc;
}

static int mark_wrappers(struct name_search *f)
{
	uint64_t *targets;
	size_t count, nameless = 0;
	struct jp_namereply *r = &f->reply;
	for (uint32_t i = 0; i < r->place_count; i++)
		nameless += r->places[i].source == JPROF_SOURCE_FDE;
	if (!nameless || !f->request->is_wrapper)
		return 0;
	int rc = jp_wrapper_targets(f->names, f->request, &targets, &count);
	for (uint32_t i = 0; !rc && i < r->place_count; i++)
		r->places[i].wrapper =
		    r->places[i].source == JPROF_SOURCE_FDE && jp_is_target(targets, count, r->places[i].fde_start);
	free(targets);
	return rc;
}

/* ---- the reply ---------------------------------------------------------------------------------- */

static int name_places(struct name_search *f)
{
	struct jp_namereply *r = &f->reply;
	if (!f->request->count)
		return 0;
	r->places = calloc(f->request->count, sizeof *r->places);
	r->place_count = (uint32_t)f->request->count;
	if (!r->places || make_lookups(f) || jp_objnames_lookup(f->names, f->lookups, f->count) || add_places(f) ||
	    mark_wrappers(f))
		return -1;
	if (f->request->allocator && f->count) {
		r->exports_malloc = jp_symtab_exports(f->names->symtab, "malloc");
		r->mallctl = jp_objnames_symbol_ending(f->names, "mallctl");
	}
	r->wants = (struct jp_reply_want *)jp_splits_wants(f->names->splits, &r->want_count);
	r->losses = (struct jp_reply_loss *)jp_splits_losses(f->names->splits, &r->loss_count);
	return 0;
}

static int find_all(struct name_search *f, struct jp_strbuf *out)
{
	struct jp_namereply *r = &f->reply;
	r->dwarf = f->names->state;
	r->program = f->names->object.object->program;
	if (!jp_is_refusal(r) && name_places(f))
		return -1;
	const struct jp_strbuf *remarks = &f->names->object.object->remarks;
	r->remarks = remarks->len ? remarks->text : NULL;
	jp_namereply_write(r, out);
	return out->failed || remarks->failed ? -1 : 0;
}

/* libelf and libdw answer with "there is none" where they get no memory. That leaves errno behind: a reply that lacks
 * names is none. */
int jp_find_names(const struct jp_name_request *request, struct jp_strbuf *out)
{
	struct name_search f = { .request = request };
	errno = 0;
	int rc = request->count < UINT32_MAX ? jp_objnames_open(request, &f.names) : JPROF_E_NOMEM;
	if (!rc)
		rc = find_all(&f, out);
	else if (rc == JPROF_E_FORMAT) {
		f.reply.dwarf = JP_DWARF_REFUSED;
		jp_namereply_write(&f.reply, out);
		rc = out->failed ? -1 : 0;
	}
	jp_objnames_close(f.names);
	jp_intern_release(&f.functions);
	jp_strbuf_release(&f.full);
	jp_strbuf_release(&f.brief);
	free(f.lookups);
	free(f.reply.places);
	free(f.reply.frames);
	free(f.reply.functions);
	jp_arena_release(&f.reply.arena);
	if (errno == ENOMEM)
		return JPROF_E_NOMEM;
	return rc && rc != JPROF_E_IO ? JPROF_E_NOMEM : rc;
}
