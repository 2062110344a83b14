#include "snap/selection.h"

#include <stddef.h>

#include "cli/say.h"

struct jprof_processes *selection_find(const struct snap_options *o)
{
	struct jprof_processes_opts opts = {
		.size = sizeof opts,
		.pids = o->pids,
		.pid_count = o->pid_count,
		.match = o->match,
		.children_of = (int)o->children_of,
		.puma = o->puma != NULL,
		.puma_of = o->puma_of,
	};
	struct jprof_processes *list = NULL;
	struct jprof_error err;
	if (jprof_processes_new(&opts, &list, &err))
		say_error(&err);
	return list;
}

void selection_say_none(const struct snap_options *o)
{
	if (o->puma_of)
		say("process %d: is no Puma; `jprof snap` alone lists the processes", o->puma_of);
	else
		say("no such process is a Ruby or has a jemalloc; `jprof snap` alone lists those that are there");
}
