#include "answers/heapsource.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/names.h"
#include "cli/say.h"
#include "cli/wholefile.h"
#include "snap/memsnap.h"

static const char graph_name[] = "graph";

static bool is_process_of(const struct jprof_bundle_member *member, const struct heap_source *as)
{
	return !as || (member->pid == as->pid && member->start_ticks == as->start_ticks);
}

/* The member with the largest graph of those that are wanted; their number if there is none. */
static size_t choose_graph(const struct jprof_bundle *bundle, const char *wanted, const struct heap_source *as,
                           size_t *with_graph)
{
	size_t count = jprof_bundle_count(bundle), best = count, most = 0;
	*with_graph = 0;
	for (size_t i = jprof_bundle_find(bundle, wanted, 0); i < count; i = jprof_bundle_find(bundle, wanted, i + 1)) {
		size_t len = 0;
		if (!jprof_bundle_file(bundle, i, graph_name, &len) ||
		    !is_process_of(jprof_bundle_member(bundle, i), as))
			continue;
		++*with_graph;
		if (best == count || len > most) {
			best = i;
			most = len;
		}
	}
	return best;
}

static void label_member(struct heap_source *source, const char *path, const struct jprof_bundle_member *member)
{
	snprintf(source->process, sizeof source->process, "process %s%s%s", member->name, *member->role ? ", " : "",
	         member->role);
	snprintf(source->label, sizeof source->label, "%s, %s", path, source->process);
	source->pid = member->pid;
	source->start_ticks = member->start_ticks;
}

static void say_no_graph(const struct jprof_bundle *bundle, const char *path, const char *member,
                         const struct heap_source *as)
{
	if (as)
		say("%s: has no graph of the objects of %s: that was restarted, or the snapshot made without --objects",
		    path, as->process);
	else if (member && jprof_bundle_find(bundle, member, 0) == jprof_bundle_count(bundle))
		say("%s: has no member %s; `jprof info %s` lists them", path, member, path);
	else
		say("%s: does not say what keeps what: make a snapshot with jprof snap --objects, of a Ruby with jprof's "
		    "agent",
		    path);
}

static struct jprof_rubyheap *open_in_bundle(struct heap_source *source, const struct jprof_bundle *bundle,
                                             const char *path, const char *member)
{
	struct jprof_rubyheap *heap = NULL;
	struct jprof_error err;
	size_t with_graph, len, i = choose_graph(bundle, member, source->as, &with_graph);
	const void *graph = jprof_bundle_file(bundle, i, graph_name, &len);
	if (!graph) {
		if (!source->silent)
			say_no_graph(bundle, path, member, source->as);
		return NULL;
	}
	source->snapshot = true;
	source->others = with_graph - 1;
	label_member(source, path, jprof_bundle_member(bundle, i));
	if (jprof_rubyheap_parse(graph, len, source->label, &heap, &err)) {
		say_error(&err);
		return NULL;
	}
	const void *table = jprof_bundle_file(bundle, i, "frames", &len);
	if (table && jprof_rubyheap_sites(heap, table, len, &err))
		say_error(&err);
	size_t buffers_len;
	const void *buffers = jprof_bundle_file(bundle, i, "buffers", &buffers_len);
	if (table && buffers && jprof_rubyheap_buffers(heap, table, len, buffers, buffers_len, &err))
		say_error(&err);
	return heap;
}

/* A live process, or a core, is snapped first, in memory. */
static struct jprof_rubyheap *open_in_memory(struct heap_source *source, const char *path, bool core)
{
	char snap_word[] = "snap", objects[] = "--objects", pid[32];
	char *argv[] = { snap_word, objects, pid, NULL };
	struct snap_options which = { 0 };
	struct memsnap snap = { 0 };
	struct jprof_bundle *bundle = NULL;
	struct jprof_rubyheap *heap = NULL;
	struct jprof_error err;
	snprintf(pid, sizeof pid, "%s", core ? "" : path);
	bool good = snap_options_parse(&which, core ? 2 : 3, argv);
	which.command = "keepers";
	which.heaps = true;
	good = good && (core ? memsnap_of_core(&snap, path, &which) : memsnap_take(&snap, &which));
	if (good && jprof_bundle_parse(snap.bundle, snap.len, path, &bundle, &err))
		say_error(&err);
	source->in_memory = true;
	if (bundle)
		heap = open_in_bundle(source, bundle, path, NULL);
	snprintf(source->label, sizeof source->label, "%s", core ? path : source->process);
	jprof_bundle_free(bundle);
	memsnap_free(&snap);
	snap_options_free(&which);
	return heap;
}

static bool is_process_word(const char *path)
{
	int pid;
	return is_pid(path, &pid) && access(path, F_OK);
}

bool heap_source_is_snapshot(const char *path)
{
	static const char end[] = ".jprof";
	size_t len = strlen(path);
	bool called_so = len >= sizeof end - 1 && !strcmp(path + len - (sizeof end - 1), end);
	return called_so || is_process_word(path) || is_core(path);
}

struct jprof_rubyheap *heap_source_open(struct heap_source *source, const char *path, const char *member)
{
	struct jprof_bundle *bundle = NULL;
	struct jprof_rubyheap *heap = NULL;
	struct jprof_error err;
	bool process = is_process_word(path), core = !process && is_core(path);
	if ((process || core) && !source->silent && !source->snapshot_alone && !member)
		return open_in_memory(source, path, core);
	bool dump = !strcmp(path, "-") || jprof_is_rubyheap(path);
	if (!dump && !jprof_bundle_open(path, &bundle, &err)) {
		heap = open_in_bundle(source, bundle, path, member);
		jprof_bundle_free(bundle);
		return heap;
	}
	if (source->silent)
		return NULL;
	if (!dump && heap_source_is_snapshot(path)) {
		say_error(&err);
		return NULL;
	}
	if (source->snapshot_alone) {
		say("%s: is no snapshot of jprof snap --objects", path);
		return NULL;
	}
	if (member) {
		say("--member=%s: %s is no snapshot", member, path);
		return NULL;
	}
	snprintf(source->label, sizeof source->label, "%s", path);
	if (jprof_rubyheap_open(path, &heap, &err))
		say_error(&err);
	return heap;
}
