/* Having a process dump, in one of three ways: asked through its agent's socket; by a signal that its agent says
 * is its own; by a signal that the user says is the program's own. */
#pragma once

#include <stdio.h>

#include "jprof-live.h"
#include "snap/snapopts.h"

struct snap_dump {
	struct jprof_dump_file *dump;
	struct jprof_dump_file *sidecar; /* NULL: there is none */
	struct jprof_dump_file *table;   /* of its Ruby stacks, likewise */
	FILE *graph;                     /* of its objects, at its beginning; likewise */
	char *buffers;                   /* of these, as far as they were sampled; likewise */
	size_t buffers_len;
	char graph_why[256]; /* why there is no graph, which was asked for; "" */
	double milliseconds; /* that it took; below 0: not known */
	bool own;            /* the agent made it for us: it may go afterwards */
	bool collected;      /* a Ruby's garbage, before it */
};

/* `opener` is the target's; NULL: it has none. False after having said what is wrong. */
bool snap_dump(struct snap_dump *dump, const struct jprof_target *target, const struct jprof_opener *opener,
               const struct jprof_process *process, const struct snap_options *options);

void snap_dump_free(struct snap_dump *dump);
void snap_graph_free(struct snap_dump *dump); /* that alone, and its buffers */

/* Why a process has no agent that can be asked (agent_socket is NULL), and what to do, in words. */
void snap_why_not(const struct jprof_process *process, char *words, size_t size);
void snap_say_why_not(const struct jprof_process *process);

/* Whether the agent was to be loaded into a process, and the loader went on without. */
bool snap_agent_was_lost(const struct jprof_process *process);

/* Milliseconds that a file system may take for one file. */
unsigned snap_file_timeout(const struct snap_options *options);

/* Has the process's agent switch sampling on or off, as the options say; *was is what it was. False after having said
 * what is wrong. */
bool snap_switch(const struct jprof_process *process, const struct snap_options *options, bool *was);
