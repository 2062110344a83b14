#include "watch/watched.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static void name_by_time(char name[watched_name_size])
{
	time_t now = time(NULL);
	struct tm tm;
	if (!localtime_r(&now, &tm) || !strftime(name, watched_name_size, "%H:%M:%S", &tm))
		snprintf(name, watched_name_size, "now");
}

/* The first stays, and every second one behind it. */
static void thin_out(struct watched *w)
{
	size_t kept = 0;
	for (size_t i = 0; i < w->count; i++) {
		if (i % 2) {
			memsnap_free(&w->snaps[i]);
			continue;
		}
		w->snaps[kept] = w->snaps[i];
		memmove(w->names[kept++], w->names[i], watched_name_size);
	}
	w->count = kept;
}

/* The master of several; its number is that of the service. */
static void remember_process(struct watched *w, const struct jprof_processes *list)
{
	const struct jprof_process *p = jprof_processes_at(list, 0);
	for (size_t i = 0; i < jprof_processes_count(list); i++)
		if (jprof_processes_at(list, i)->pid == jprof_processes_at(list, i)->service)
			p = jprof_processes_at(list, i);
	w->pid = p->pid;
	w->start_ticks = p->start_ticks;
}

bool watched_take(struct watched *w, const struct snap_options *which)
{
	struct memsnap snap;
	if (!memsnap_take(&snap, which)) {
		memsnap_free(&snap);
		return false;
	}
	if (!w->pid)
		remember_process(w, snap.list);
	if (w->count == most_watched)
		thin_out(w);
	name_by_time(w->names[w->count]);
	w->snaps[w->count++] = snap;
	return true;
}

bool watched_runs(const struct watched *w)
{
	struct jprof_processes_opts opts = { .size = sizeof opts, .pids = &w->pid, .pid_count = 1 };
	struct jprof_processes *list = NULL;
	if (jprof_processes_new(&opts, &list, NULL))
		return false;
	const struct jprof_process *p = jprof_processes_count(list) ? jprof_processes_at(list, 0) : NULL;
	bool runs = p && p->state == JPROF_PROCESS_ALIVE && p->start_ticks == w->start_ticks;
	jprof_processes_free(list);
	return runs;
}

struct inputs watched_inputs(struct watched *w)
{
	for (size_t i = 0; i < w->count; i++) {
		w->operands[i] = w->names[i];
		w->inputs[i] = (struct live_input){ .name = w->names[i],
			                            .data = w->snaps[i].bundle,
			                            .len = w->snaps[i].len,
			                            .dumpless = !w->snaps[i].dumped };
	}
	return (struct inputs){
		.dumps = w->operands, .dump_count = (int)w->count, .live = w->inputs, .live_count = w->count
	};
}

void watched_free(struct watched *w)
{
	for (size_t i = 0; i < w->count; i++)
		memsnap_free(&w->snaps[i]);
	w->count = 0;
}
