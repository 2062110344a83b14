#include "serve/serveopts.h"

#include <stddef.h>
#include <stdio.h>

#include "cli/duration.h"
#include "cli/names.h"
#include "cli/optparse.h"
#include "cli/say.h"

#define SERVE_AT(member) offsetof(struct serve_options, member)
#define SERVE_NAMES_AT(member) offsetof(struct serve_options, report.member)

/* clang-format off */
static const struct opt_row serve_rows[] = {
	{ "pid", OPT_TEXT, SERVE_AT(pid), 0, NULL, "PID", "serves this process" },
	{ "puma", OPT_MAYBE, SERVE_AT(puma), 0, NULL, "PID",
	  "serves the Puma that runs here, master and workers; of several the one of PID (a master or a worker)" },
	{ "listen", OPT_TEXT, SERVE_AT(listen), 0, NULL, "ADDRESS:PORT|unix:PATH",
	  "where it listens (127.0.0.1:6060); port 0 is one that is free" },
	{ "interval", OPT_TEXT, SERVE_AT(interval), 0, NULL, "5s",
	  "the time from one dump to the next, at least (s, m, h): in between the last profile is sent again" },
	OPTIONS_LOOKUP(SERVE_NAMES_AT),
	{ "help", OPT_SWITCH, SERVE_AT(help), 0, NULL, NULL, "this text" },
	{ "port", OPT_REFUSED, 0, 0, NULL, NULL, "--listen=127.0.0.1:PORT is where it listens" },
};
/* clang-format on */

static const struct opt_table serve_table = { .rows = serve_rows,
	                                      .count = sizeof serve_rows / sizeof *serve_rows,
	                                      .help = "jprof serve --help" };

void serve_options_help(void)
{
	printf("usage: jprof serve [OPTIONS] --pid=PID\n"
	       "       jprof serve [OPTIONS] --puma[=PID]\n"
	       "\n"
	       "Answers HTTP requests as a Go program does, for what collects its profiles:\n"
	       "GET /debug/pprof/heap has the process dump, as jprof snap does, and sends\n"
	       "profile.proto with names. /debug/pprof/allocs is the same, with what was ever\n"
	       "allocated shown first; /metrics has numbers for Prometheus; / is the page of\n"
	       "--html; /healthz says whether jprof serve runs. ?gc=1 lets a Ruby collect its\n"
	       "garbage first. It prints where it can be asked.\n"
	       "\n");
	opt_help(&serve_table, 0);
	printf("\n"
	       "Examples\n"
	       "  jprof serve --puma\n"
	       "  jprof serve --pid=4711 --listen=unix:/run/app/jprof.sock\n");
}

/* Which processes, in the words of snap, which are the program's for good. */
static bool choose_served(struct serve_options *o)
{
	static char puma[64], snap[] = "snap";
	int pid;
	char *argv[] = { snap, o->puma ? puma : (char *)o->pid, NULL };
	if (!o->pid == !o->puma) {
		say("give --pid=PID, or --puma; jprof snap alone lists the processes that are there");
		return false;
	}
	if (o->pid && !is_pid(o->pid, &pid)) {
		say("--pid=%s: give the number of a process; `jprof snap` alone lists them", o->pid);
		return false;
	}
	snprintf(puma, sizeof puma, o->puma && *o->puma ? "--puma=%s" : "--puma", o->puma);
	bool good = snap_options_parse(&o->which, 2, argv);
	o->which.command = "serve";
	o->which.debug_dir = o->report.debug_dir;
	o->which.debuginfod = o->report.debuginfod;
	o->which.no_sandbox = o->report.no_sandbox;
	return good;
}

bool serve_options_parse(struct serve_options *o, int argc, char **argv)
{
	int count;
	*o = (struct serve_options){
		.listen = "127.0.0.1:6060",
		.interval = "5s",
		.report = { .output = "proto",
		            .granularity = ROWS_USUAL,
		            .fold = FOLD_STD,
		            .labels = true,
		            .quiet = true },
	};
	if (!opt_parse(&serve_table, o, argc, argv, &count))
		return false;
	if (o->help)
		return true;
	if (count) {
		say("%s: give a process as --pid=PID, and a Puma as --puma[=PID]", argv[1]);
		return false;
	}
	return duration_parse("interval", o->interval, &o->interval_ms) && choose_served(o);
}

void serve_options_free(struct serve_options *o)
{
	snap_options_free(&o->which);
}
