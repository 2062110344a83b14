#include "snap/memsnap.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cachedir.h"
#include "cli/packdirs.h"
#include "cli/sandbox.h"
#include "cli/say.h"
#include "snap/interrupt.h"
#include "snap/selection.h"
#include "snap/services.h"
#include "snap/snapdump.h"
#include "snap/snapmember.h"

/* ---- what processes leave while they are asked ------------------------------------------------------------- */

static struct under_way {
	const struct snap_options *options;
	struct leftovers leftovers;
} under_way;

void memsnap_take_back(void)
{
	if (under_way.options)
		leftovers_remove(&under_way.leftovers, under_way.options);
}

static void end_leftovers(void)
{
	leftovers_remove(&under_way.leftovers, under_way.options);
	interrupt_hold();
	leftovers_end(&under_way.leftovers);
	under_way.options = NULL;
	interrupt_release();
}

/* ---- the bundle --------------------------------------------------------------------------------------------- */

static int append_bytes(void *context, const void *data, size_t len)
{
	struct memsnap *s = context;
	if (len > s->cap - s->len) {
		size_t cap = (s->cap + len) * 2;
		char *more = realloc(s->bundle, cap);
		if (!more)
			return -1;
		s->bundle = more;
		s->cap = cap;
	}
	memcpy(s->bundle + s->len, data, len);
	s->len += len;
	return 0;
}

/* How many processes are in the bundle; -1: the writer can only be freed. */
static int add_dumps_of(struct memsnap *s, struct jprof_bundle_writer *writer, const struct snap_options *o)
{
	struct collections collections = { 0 };
	int count = 0, done = 0;
	for (size_t i = 0; done >= 0 && !interrupted() && i < jprof_processes_count(s->list); i++) {
		const struct jprof_process *p = jprof_processes_at(s->list, i);
		if (p->state == JPROF_PROCESS_ALIVE && (p->readable || o->heaps) && !p->agent_library) {
			if (p->readable)
				snap_why_not(p, s->why, sizeof s->why);
			continue;
		}
		done = snap_member(writer, p, o, &under_way.leftovers, &collections);
		count += done > 0;
	}
	return done < 0 ? -1 : count;
}

static int add_proc_of(struct memsnap *s, struct jprof_bundle_writer *writer, const struct snap_options *o)
{
	int count = 0, done = 0;
	for (size_t i = 0; done >= 0 && !interrupted() && i < jprof_processes_count(s->list); i++) {
		const struct jprof_process *p = jprof_processes_at(s->list, i);
		done = p->state == JPROF_PROCESS_ALIVE ? snap_outside(writer, p, o, o->heaps ? &s->heaps : NULL) : 0;
		count += done > 0;
	}
	return done < 0 ? -1 : count;
}

static bool fill_bundle(struct memsnap *s, struct jprof_bundle_writer *writer, const struct snap_options *o)
{
	struct jprof_error err;
	int count = add_dumps_of(s, writer, o);
	s->dumped = count > 0;
	if (!count)
		count = add_proc_of(s, writer, o);
	if (count <= 0 || interrupted())
		return false;
	if (!jprof_bundle_writer_finish(writer, &err))
		return true;
	say_error(&err);
	return false;
}

bool memsnap_take(struct memsnap *s, const struct snap_options *o)
{
	struct jprof_bundle_writer_opts opts = { .size = sizeof opts, .time = time(NULL) };
	struct jprof_bundle_writer *writer = NULL;
	struct jprof_error err;
	*s = (struct memsnap){ .list = selection_find(o) };
	if (s->list && !jprof_processes_count(s->list))
		selection_say_none(o);
	if (!s->list || !jprof_processes_count(s->list) || !services_are_one(s->list, o))
		return false;
	if (jprof_bundle_writer_new(&opts, append_bytes, s, &writer, &err)) {
		say_error(&err);
		return false;
	}
	under_way.options = o;
	interrupt_catch(memsnap_take_back);
	bool good = fill_bundle(s, writer, o);
	end_leftovers();
	jprof_bundle_writer_free(writer);
	return good;
}

/* A core has no text: files of this machine are used where their build-ids are those in the core. */
static int add_profile_of_core(struct jprof_bundle_writer *writer, const char *path, const struct snap_profile *p,
                               const struct snap_options *o, struct jprof_error *err)
{
	struct jprof_profile *profile = NULL;
	char *dirs = pack_dirs(), *cache = cache_dir_for_processes();
	const struct jprof_symbolize_opts opts = { .size = sizeof opts,
		                                   .names_dirs = dirs,
		                                   .cache = cache,
		                                   .finder = sandbox_finder(o->no_sandbox),
		                                   .debug_dir = o->debug_dir,
		                                   .debuginfod = o->debuginfod };
	const struct jprof_profile_opts table = { .size = sizeof table, .table = p->table, .table_len = p->table_len };
	int rc = jprof_bundle_writer_file(writer, "dump.heap", p->text, p->len, err);
	if (!rc && p->table)
		rc = jprof_bundle_writer_file(writer, "frames", p->table, p->table_len, err);
	rc = rc ? rc : jprof_profile_parse(p->text, p->len, path, &table, &profile, err);
	rc = rc ? rc : jprof_profile_sidecar(profile, p->sidecar, p->sidecar_len, err);
	rc = rc ? rc : jprof_profile_symbolize(profile, &opts, err);
	rc = rc ? rc : jprof_bundle_writer_symbols(writer, profile, true, err);
	sandbox_end();
	jprof_profile_free(profile);
	free(dirs);
	free(cache);
	return rc;
}

bool memsnap_of_core(struct memsnap *s, const char *path, const struct snap_options *o)
{
	const struct jprof_bundle_writer_opts opts = { .size = sizeof opts, .time = time(NULL) };
	struct jprof_heap_opts heap = snap_heap_opts(o);
	struct jprof_bundle_writer *writer = NULL;
	struct snap_profile profile = { 0 };
	struct jprof_heap_seen seen;
	struct jprof_error err;
	*s = (struct memsnap){ 0 };
	heap.dump = o->profiles ? snap_keep_profile : NULL;
	heap.dump_context = &profile;
	int rc = jprof_bundle_writer_new(&opts, append_bytes, s, &writer, &err);
	rc = rc ? rc : jprof_core_heap(path, &heap, writer, &seen, &err);
	rc = rc || !profile.text ? rc : add_profile_of_core(writer, path, &profile, o, &err);
	rc = rc ? rc : jprof_bundle_writer_finish(writer, &err);
	s->heaps.read = !rc;
	if (!rc && heap.graph && seen.graph_why)
		say("%s: no graph of its objects: %s", path, seen.graph_why);
	if (rc)
		say_error(&err);
	jprof_bundle_writer_free(writer);
	free(profile.text);
	free(profile.sidecar);
	free(profile.table);
	return !rc;
}

void memsnap_free(struct memsnap *s)
{
	free(s->bundle);
	jprof_processes_free(s->list);
	*s = (struct memsnap){ 0 };
}
