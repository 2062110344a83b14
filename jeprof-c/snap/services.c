#include "snap/services.h"

#include <stdio.h>
#include <string.h>

#include "cli/say.h"

enum { widest_title = 100 };

static bool is_given(const struct snap_options *o, int pid)
{
	for (size_t i = 0; i < o->pid_count; i++)
		if (o->pids[i] == pid)
			return true;
	return false;
}

/* Whether the `i`th process is the first in the list of a Puma that nobody gave by pid. */
static bool begins_service(const struct jprof_processes *list, const struct snap_options *o, size_t i)
{
	const struct jprof_process *p = jprof_processes_at(list, i);
	if (strcmp(p->server, "puma") != 0 || is_given(o, p->pid))
		return false;
	for (size_t k = 0; k < i; k++) {
		const struct jprof_process *before = jprof_processes_at(list, k);
		if (before->service == p->service && !is_given(o, before->pid))
			return false;
	}
	return true;
}

/* The list of all: the master may be none that could be asked. */
static void say_service(const struct jprof_processes *list, int service, const char *command)
{
	const char *title = "";
	size_t workers = 0;
	for (size_t i = 0; i < jprof_processes_count(list); i++) {
		const struct jprof_process *p = jprof_processes_at(list, i);
		if (p->service != service)
			continue;
		workers += !strcmp(p->role, "worker");
		if (p->pid == service || !*title)
			title = p->title;
	}
	char words[48] = "one process";
	if (workers)
		snprintf(words, sizeof words, "%zu worker%s", workers, workers == 1 ? "" : "s");
	say("  jprof %s --puma=%-8d %.*s, %s", command, service, widest_title, title, words);
}

bool services_are_one(const struct jprof_processes *list, const struct snap_options *o)
{
	size_t services = 0, count = jprof_processes_count(list);
	if (!o->puma || o->puma_of)
		return true;
	for (size_t i = 0; i < count; i++)
		services += begins_service(list, o, i);
	if (services < 2)
		return true;
	say("%zu Pumas run here, and a bundle of several would add them up; take one by its pid:", services);
	for (size_t i = 0; i < count; i++)
		if (begins_service(list, o, i))
			say_service(list, jprof_processes_at(list, i)->service, o->command);
	return false;
}
