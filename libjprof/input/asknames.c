#include "input/asknames.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/search.h"
#include "input/namecache.h"
#include "input/packfiles.h"

/* How many .dwo files are open at once, and how many are looked at for places that are in the way of each other. */
enum { most_wants = 128, most_answers = 4 * most_wants };

/* How often one file is asked about: of 512 .dwo files where eight can be open, and many more where more can. */
enum { most_asking_rounds = 4096 };

/* ---- one question ------------------------------------------------------------------------------- */

static struct jp_open_file open_file_of(const struct jp_objfile *file)
{
	return (struct jp_open_file){ .fd = file ? file->fd : -1, .path = file ? file->path : NULL };
}

/* The packs that are of a file without symbols. -1 when memory is short. */
static int open_packs(const struct jp_objfile *file, const struct jp_debug_where *where, struct jp_open_packs *open)
{
	struct jp_arena jp_cleanup(jp_arena_release) arena = { 0 };
	if (!where->packs || !where->packs->count || jp_objfile_has_symtab(file))
		return 0;
	const char *soname = jp_codefile_soname(file, &arena);
	if (soname)
		open->count = jp_packfiles_open(where->packs, file->headers.machine, soname, open->files);
	return soname ? 0 : -1;
}

static void close_packs(struct jp_open_packs *open)
{
	for (size_t i = 0; i < open->count; i++)
		jp_file_close(&open->files[i].fd);
	open->count = 0;
}

/* `found` may be any files that belong to the one that is asked about. */
static struct jp_name_request request_of(const struct jp_objfile *file, const struct jp_debugfiles *found,
                                         const struct jp_split_files *splits, const struct jp_open_packs *packs)
{
	struct jp_name_request request = { .object = open_file_of(file),
		                           .debug = open_file_of(found->debug),
		                           .shared = open_file_of(found->shared),
		                           .dwarf = found->dwarf,
		                           .pack_count = packs->count,
		                           .splits = splits->answers,
		                           .split_count = splits->count };
	memcpy(request.packs, packs->files, sizeof request.packs);
	return request;
}

/* What could not be read, and why. */
static void note_unanswered(struct jp_asking *a, const struct jp_debugfiles *found, const char *why)
{
	const char *debug = found->debug ? found->debug->path : "";
	if (!*a->trouble)
		snprintf(a->trouble, sizeof a->trouble, "%.500s%s%.400s", why, *debug ? ", with its debug file " : "",
		         debug);
}

static bool is_answered(const struct jp_split_files *splits, const struct jp_reply_want *want)
{
	for (size_t i = 0; i < splits->count; i++)
		if (splits->answers[i].unit == want->unit && !strcmp(splits->answers[i].name, want->name))
			return true;
	return false;
}

/* Whether there is an end: a file that was given or refused is not wanted again, and a place waits for the first one,
 * which is always given or refused. */
static bool gets_on(const struct jp_asking *a, const struct jp_name_request *request)
{
	const struct jp_namereply *r = &a->reply;
	bool pending = false, first = false;
	for (uint32_t i = 0; i < r->place_count; i++) {
		pending = pending || r->places[i].reason == JP_NAMELESS_PENDING;
		first = first || r->places[i].want == 0;
	}
	for (uint32_t i = 0; i < r->want_count; i++)
		if (is_answered(&a->splits, &r->wants[i]))
			return false;
	return !pending || (first && request->dwarf != JP_DWARF_NOWHERE && a->rounds < most_asking_rounds);
}

static int ask_files(struct jp_asking *a, const struct jp_debugfiles *found)
{
	struct jp_name_request request = request_of(a->file, found, &a->splits, &a->packs);
	request.offsets = a->offsets ? a->offsets : a->ask.offsets;
	request.count = a->count;
	request.image = a->ask.image;
	request.allocator = a->ask.allocator;
	request.functions = a->ask.functions;
	request.is_wrapper = a->ask.is_wrapper;
	request.wrappers = a->ask.wrappers;
	jp_namereply_release(&a->reply);
	struct jprof_error err = { 0 };
	int rc = jp_namecache_find(a->where->cache, a->file->build_id, a->where->finder, &request, &a->reply, &err);
	a->rounds++;
	if (!rc && !gets_on(a, &request))
		rc = jp_error(&err, JPROF_E_UNSUPPORTED, NULL, 0,
		              "the process that reads it asks for the same .dwo files again and again");
	a->nameless = rc;
	if (rc) {
		jp_namereply_release(&a->reply);
		note_unanswered(a, found, err.text);
	}
	return rc == JPROF_E_NOMEM ? -1 : 0;
}

/* Where nothing is answered, the object file alone is asked, without debug information. */
static int ask_round(struct jp_asking *a, const struct jp_debugfiles *found)
{
	const struct jp_debugfiles none = { 0 };
	int rc = ask_files(a, found);
	if (rc || !a->nameless || (found->dwarf == JP_DWARF_NOWHERE && !found->debug))
		return rc;
	jp_split_files_release(&a->splits);
	return ask_files(a, &none);
}

/* ---- what is said of the files ------------------------------------------------------------------ */

static void add_remarks(struct jp_asking *a)
{
	struct jp_strbuf *remarks = &a->file->remarks;
	if (!a->reply.remarks)
		return;
	if (remarks->len)
		jp_strbuf_str(remarks, "; ");
	jp_strbuf_visible(remarks, a->reply.remarks);
}

static bool is_lost(const struct jp_asking *a, uint64_t unit)
{
	for (size_t i = 0; i < a->lost_count; i++)
		if (a->lost[i] == unit)
			return true;
	return false;
}

static int add_losses(struct jp_asking *a)
{
	for (uint32_t i = 0; i < a->reply.loss_count; i++) {
		const struct jp_reply_loss *loss = &a->reply.losses[i];
		if (is_lost(a, loss->unit))
			continue;
		if (jp_array_push(a->lost, a->lost_count, a->lost_cap))
			return -1;
		if (!a->lost_count)
			snprintf(a->first_loss, sizeof a->first_loss, "%s", loss->text);
		a->lost[a->lost_count++] = loss->unit;
	}
	return 0;
}

static void remark_losses(struct jp_asking *a)
{
	if (*a->trouble)
		jp_objfile_remark(a->file, "%s: %s",
		                  a->nameless ? "its names were not found" : "debug information of it is not used",
		                  a->trouble);
	if (a->lost_count > 1)
		jp_objfile_remark(a->file, "no inlined functions from split debug information: %s; and %zu more",
		                  a->first_loss, a->lost_count - 1);
	else if (a->lost_count)
		jp_objfile_remark(a->file, "no inlined functions from split debug information: %s", a->first_loss);
	a->lost_count = 0;
}

/* ---- the first part ----------------------------------------------------------------------------- */

static int judge_dwarf(void *context, const struct jp_debugfiles *files, enum jp_dwarf_state *state)
{
	struct jp_asking *a = context;
	if (ask_files(a, files))
		return -1;
	*state = a->reply.dwarf == JP_DWARF_NONE ? JP_DWARF_REFUSED : a->reply.dwarf;
	if (*state != JP_DWARF_USED)
		add_remarks(a);
	return 0;
}

/* Reading debug information shows whether it can be used; where it can, the names are found by that. */
static int ask_first(struct jp_asking *a)
{
	const struct jp_dwarf_judge with = { judge_dwarf, a };
	a->count = a->ask.count;
	if (open_packs(a->file, a->where, &a->packs) || jp_debugfiles_find(a->file, a->where, &with, &a->found))
		return -1;
	return a->found.dwarf == JP_DWARF_NOWHERE ? ask_round(a, &a->found) : 0;
}

/* ---- the parts that want .dwo files ------------------------------------------------------------- */

/* Where `must` is not set, 1 and no answer: no more files can be open at once than are. */
static int answer_want(struct jp_split_files *files, const struct jp_objfile *holder, const struct jp_reply_want *want,
                       bool must)
{
	if (files->count >= most_answers)
		return jp_split_files_refuse(files, want, "more .dwo files than are looked at");
	int rc = jp_split_files_open(files, holder, want);
	return rc > 0 && must ? jp_split_files_refuse(files, want, "more .dwo files than can be open at once") : rc;
}

/* The first `answered` of the wants: as many as can be. One at least, for those that are open are needed with it. */
static int answer_wants(struct jp_asking *a, uint32_t *answered)
{
	const struct jp_objfile *skeletons = a->found.dwarf == JP_DWARF_IN_DEBUG ? a->found.debug : a->file;
	int rc = 0;
	*answered = 0;
	while (*answered < a->reply.want_count && *answered < most_wants &&
	       !(rc = answer_want(&a->splits, skeletons, &a->reply.wants[*answered], !*answered)))
		++*answered;
	return rc < 0 ? -1 : 0;
}

static int make_lists(struct jp_asking *a)
{
	if (!a->asked)
		a->asked = calloc(a->ask.count + 1, sizeof *a->asked);
	if (!a->rest)
		a->rest = calloc(a->ask.count + 1, sizeof *a->rest);
	if (!a->offsets)
		a->offsets = calloc(a->ask.count + 1, sizeof *a->offsets);
	return a->asked && a->rest && a->offsets ? 0 : -1;
}

/* Those whose files are open by now are asked for next, the others later. */
static int keep_pending(struct jp_asking *a)
{
	bool all = !a->offsets;
	size_t kept = 0;
	uint32_t answered;
	if (make_lists(a) || answer_wants(a, &answered))
		return -1;
	for (uint32_t i = 0; i < a->reply.place_count; i++) {
		const struct jp_reply_place *place = &a->reply.places[i];
		uint32_t number = all ? i : a->asked[i];
		if (place->reason != JP_NAMELESS_PENDING)
			continue;
		if (place->want < answered)
			a->asked[kept++] = number;
		else
			a->rest[a->rest_count++] = number;
	}
	a->count = kept;
	return 0;
}

static bool has_pending(const struct jp_namereply *reply)
{
	for (uint32_t i = 0; i < reply->place_count; i++)
		if (reply->places[i].reason == JP_NAMELESS_PENDING)
			return true;
	return false;
}

/* 1 and the question for the next part, or 0: all is answered. */
static int prepare_next(struct jp_asking *a)
{
	bool pending = has_pending(&a->reply);
	if (pending && keep_pending(a))
		return -1;
	if (!pending && a->rest_count) {
		/* The files that were opened are of no use to the rest. */
		jp_split_files_release(&a->splits);
		qsort(a->rest, a->rest_count, sizeof *a->rest, jp_by_number);
		memcpy(a->asked, a->rest, a->rest_count * sizeof *a->rest);
		a->count = a->rest_count;
		a->rest_count = 0;
	} else if (!pending)
		return 0;
	for (size_t i = 0; i < a->count; i++)
		a->offsets[i] = a->ask.offsets[a->asked[i]];
	return 1;
}

int jp_asking_next(struct jp_asking *a)
{
	int more = a->begun ? prepare_next(a) : 1;
	if (more <= 0) {
		remark_losses(a);
		return more;
	}
	if (a->begun ? ask_round(a, &a->found) : ask_first(a))
		return -1;
	if (!a->begun)
		add_remarks(a);
	a->begun = true;
	return add_losses(a) || a->file->remarks.failed ? -1 : 1;
}

size_t jp_asking_offset(const struct jp_asking *a, size_t i)
{
	return a->asked ? a->asked[i] : i;
}

void jp_asking_release(struct jp_asking *a)
{
	jp_namereply_release(&a->reply);
	jp_split_files_release(&a->splits);
	jp_debugfiles_release(&a->found);
	close_packs(&a->packs);
	free(a->offsets);
	free(a->asked);
	free(a->rest);
	free(a->lost);
}
