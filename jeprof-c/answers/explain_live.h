/* explain of live processes: they are snapped first, in memory. */
#pragma once

#include "report/load.h"
#include "snap/memsnap.h"

enum { live_operands = 3 };

struct explain_live {
	bool asked;  /* the last operand is a pid or a core, or --puma was given */
	bool core;   /* it is a core */
	bool dumped; /* false: the process runs without what could dump it */
	bool ruby;   /* it is one */
	struct snap_options which;
	struct memsnap snap;
	struct jp_strbuf lost; /* with --unreachable --addresses: these, in lines */
	char name[64];         /* of the snapshot, for messages: "process 4711" */
	char title[512];       /* and for people: "process 4711: Puma worker, up 3 days" */
	char outside[1200];    /* without a dump: why its memory was not read, as a sentence; "" */
	bool refused;          /* likewise: it may not be read, by these rights */
	char remedy[800];      /* how it could be read, in lines; "" */
	char start[1200];      /* how to start it under profiling: "bundle exec puma", or "COMMAND" */
	char *operands[live_operands];
};

/* Where live processes are meant, snaps them, writes the snapshot to -o FILE, and has `options` name the snapshot in
 * place of the pid, without -o. True where none are meant. False after having said what is wrong. To be freed. */
bool explain_live_take(struct explain_live *live, struct options *options);

void explain_live_free(struct explain_live *live);
