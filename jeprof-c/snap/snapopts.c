#include "snap/snapopts.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bundlefile.h"
#include "cli/names.h"
#include "cli/optparse.h"
#include "cli/say.h"
#include "jprof-live.h"
#include "snap/signals.h"

enum { default_timeout = 30, longest_timeout = 86400 };

#define SNAP_AT(member) offsetof(struct snap_options, member)

static const struct opt_row snap_rows[] = {
	{ "match", OPT_TEXT, SNAP_AT(match), 0, NULL, "RE",
	  "takes processes whose command line matches, if they have a jemalloc or are a Ruby" },
	{ "children-of", OPT_NUMBER, SNAP_AT(children_of), 0, NULL, "PID", "takes the children of PID likewise" },
	{ "puma", OPT_MAYBE, SNAP_AT(puma), 0, NULL, "PID",
	  "takes the Puma that runs here, master and workers; of several the one of PID (a master or a worker)" },
	{ "output", OPT_TEXT, SNAP_AT(output), 0, NULL, "FILE|DIR",
	  "the bundle, or where it goes; -o is the same. By default jprof[-LABEL]-PID.jprof in the current directory" },
	{ "mode", OPT_TEXT, SNAP_AT(mode), 0, NULL, "0644", "the bundle's mode, in octal (0600: for its owner alone)" },
	{ "label", OPT_TEXT, SNAP_AT(label), 0, NULL, "WORD", "a name for this moment: boot, warm, steady" },
	{ "gc", OPT_SWITCH, SNAP_AT(gc), 0, NULL, NULL,
	  "lets a Ruby collect its garbage first, and count its objects" },
	{ "objects", OPT_SWITCH, SNAP_AT(objects), 0, NULL, NULL,
	  "lets a Ruby count its objects by type and class; it does nothing else for up to a second. And has a child of it write what refers to what, for jprof keepers" },
	{ "no-objects", OPT_SWITCH, SNAP_AT(no_objects), 0, NULL, NULL, "with --gc: does not have them counted" },
	{ "referrers", OPT_SWITCH, SNAP_AT(referrers), 0, NULL, NULL,
	  "of processes without the agent, which are read from outside: also finds what points to their live memory" },
	{ "unreachable", OPT_SWITCH, SNAP_AT(unreachable), 0, NULL, NULL,
	  "likewise: also finds to which live memory no pointer leads, for jprof explain and jprof check" },
	{ "count", OPT_NUMBER, SNAP_AT(count), 0, NULL, "N", "makes N bundles, numbered" },
	{ "every", OPT_TEXT, SNAP_AT(every), 0, NULL, "60s",
	  "the time from one to the next (s, m, h); without --count until you interrupt it" },
	{ "keep", OPT_NUMBER, SNAP_AT(keep), 0, NULL, "N",
	  "keeps the newest N bundles of this series (of this label, else of this pid) and removes older ones" },
	{ "max-bytes", OPT_TEXT, SNAP_AT(max_bytes), 0, NULL, "SIZE", "keeps as many as fit into SIZE (k, M, G)" },
	{ "symbols", OPT_WORD, SNAP_AT(symbols), 0, NULL, "now|later",
	  "puts names into the bundle (now, the default), or only the build-ids of the files that have them" },
	{ "debug-dir", OPT_TEXT, SNAP_AT(debug_dir), 0, NULL, "DIR,DIR", "looks for separate debug files here, too" },
	{ "debuginfod", OPT_SWITCH, SNAP_AT(debuginfod), 0, NULL, NULL,
	  "asks the servers in $DEBUGINFOD_URLS for what is missing" },
	{ "no-sandbox", OPT_SWITCH, SNAP_AT(no_sandbox), 0, NULL, NULL,
	  "reads symbols and debug information in this process, to find out why it fails" },
	{ "cmdline", OPT_SWITCH, SNAP_AT(cmdline), 0, NULL, NULL,
	  "puts the arguments of the processes into the bundle" },
	{ "timeout", OPT_NUMBER, SNAP_AT(timeout), 0, NULL, "S",
	  "seconds that a process may take for its dump (30); half of it for --gc" },
	{ "keep-dumps", OPT_SWITCH, SNAP_AT(keep_dumps), 0, NULL, NULL,
	  "leaves the raw dumps where the processes wrote them" },
	{ "signal", OPT_TEXT, SNAP_AT(signal_name), 0, NULL, "USR2",
	  "sends this signal instead of asking through the socket, if the agent says that it handles it" },
	{ "trust-handler", OPT_TEXT, SNAP_AT(trust_name), 0, NULL, "USR2",
	  "with --signal, for a program without the agent: believe that its own handler of this signal makes it dump" },
	{ "dump-dir", OPT_TEXT, SNAP_AT(dump_dir), 0, NULL, "DIR",
	  "with --trust-handler: where it dumps, as it sees it (by default as its MALLOC_CONF says)" },
	{ "activate", OPT_CHOICE, SNAP_AT(sampling), SNAP_ACTIVATES, "sampling", NULL,
	  "makes no dump: the processes take samples from now on, as after jprof run --inactive" },
	{ "deactivate", OPT_CHOICE, SNAP_AT(sampling), SNAP_DEACTIVATES, "sampling", NULL,
	  "makes no dump: the processes take no more samples" },
	{ "max-memory", OPT_TEXT, SNAP_AT(max_memory), 0, NULL, "SIZE",
	  "stops before it takes more memory (k, M, G; default: what its control group has left, or half of what is free)" },
	{ "help", OPT_SWITCH, SNAP_AT(help), 0, NULL, NULL, "this text" },
	{ "all", OPT_REFUSED, 0, 0, NULL, NULL, "give the PIDs, or --puma, --match=RE, --children-of=PID" },
	{ "pid", OPT_REFUSED, 0, 0, NULL, NULL, "give the number alone: jprof snap PID" },
	{ "interval", OPT_REFUSED, 0, 0, NULL, NULL, "--every=60s is the time from one to the next" },
};

/* -o is --output. */
static const char *const snap_first[] = { "output", NULL };

static const struct opt_table snap_table = { .rows = snap_rows,
	                                     .count = sizeof snap_rows / sizeof *snap_rows,
	                                     .help = "jprof snap --help",
	                                     .first = snap_first };

static bool parse_pid(const char *text, int *pid)
{
	if (is_pid(text, pid))
		return true;
	say("%s: give the number of a process; `jprof snap` alone lists them", text);
	return false;
}

/* A number and one of the `units`, each worth `worth` of the same place; without one it is worth `plain`. */
static bool parse_amount(const char *text, const char *units, const uint64_t *worth, uint64_t plain, uint64_t *amount)
{
	char *end;
	errno = 0;
	double n = strtod(text, &end);
	const char *unit = *end ? strchr(units, tolower((unsigned char)*end)) : NULL;
	if (errno || end == text || (*end && (!unit || end[1])) || !(n > 0))
		return false;
	double product = n * (double)(unit ? worth[unit - units] : plain);
	if (!(product >= 1 && product < 9e18))
		return false;
	*amount = (uint64_t)product;
	return true;
}

static bool parse_every(struct snap_options *o)
{
	static const uint64_t worth[] = { 1000, 60000, 3600000 };
	o->every_ms = 60000;
	if (!o->every || parse_amount(o->every, "smh", worth, 1000, &o->every_ms))
		return true;
	say("--every=%s: give a time such as 60s, 10m or 1h", o->every);
	return false;
}

static bool parse_max_bytes(struct snap_options *o)
{
	static const uint64_t worth[] = { 1 << 10, 1 << 20, 1 << 30 };
	if (!o->max_bytes || parse_amount(o->max_bytes, "kmg", worth, 1, &o->most_bytes))
		return true;
	say("--max-bytes=%s: give a size such as 500M or 2G", o->max_bytes);
	return false;
}

static bool parse_signal(const char *option, const char *name, int *signal)
{
	if (!name)
		return true;
	*signal = signal_by_name(name);
	if (!*signal)
		say("--%s=%s: give a signal such as USR2, or its number", option, name);
	return *signal > 0;
}

static bool parse_signals(struct snap_options *o)
{
	if (!parse_signal("signal", o->signal_name, &o->signal) ||
	    !parse_signal("trust-handler", o->trust_name, &o->trust))
		return false;
	if (o->trust && o->trust != o->signal) {
		say("--trust-handler=%s needs --signal=%s: both have to name it", o->trust_name, o->trust_name);
		return false;
	}
	if (o->dump_dir && !o->trust) {
		say("--dump-dir is for --trust-handler: an agent tells where it dumps");
		return false;
	}
	if (o->signal && o->gc) {
		say("--gc and --signal exclude each other: a signal cannot say it; leave out --signal");
		return false;
	}
	return true;
}

static bool parse_label(const struct snap_options *o)
{
	if (!o->label || jprof_agent_label_good(o->label))
		return true;
	say("--label=%s: give 1 to 64 of A-Z a-z 0-9 . _ -", o->label);
	return false;
}

static bool parse_sampling(const struct snap_options *o)
{
	bool dumps = o->label || o->gc || o->every || o->count || o->output || o->mode || o->signal_name || o->keep ||
	             o->max_bytes;
	if (!o->sampling || !dumps)
		return true;
	say("--activate and --deactivate make no bundle; give only processes with them");
	return false;
}

static bool parse_pids(struct snap_options *o, char **operands, int count)
{
	o->pids = calloc((size_t)count + 1, sizeof *o->pids);
	if (!o->pids) {
		say("memory is short");
		return false;
	}
	for (int i = 0; i < count; i++)
		if (!parse_pid(operands[i], &o->pids[o->pid_count++]))
			return false;
	return true;
}

bool snap_options_parse(struct snap_options *o, int argc, char **argv)
{
	int count;
	*o = (struct snap_options){ .command = "snap", .timeout = default_timeout };
	if (!opt_parse(&snap_table, o, argc, argv, &count))
		return false;
	if (o->help)
		return true;
	if (o->timeout > longest_timeout || o->children_of > INT_MAX) {
		say(o->timeout > longest_timeout ? "--timeout: give at most 86400 seconds"
		                                 : "--children-of: give a pid");
		return false;
	}
	if (!parse_sampling(o))
		return false;
	if (!o->count && !o->every)
		o->count = 1;
	return parse_every(o) && parse_max_bytes(o) && parse_signals(o) && parse_label(o) &&
	       bundle_mode_good(o->mode) && (!o->puma || !*o->puma || parse_pid(o->puma, &o->puma_of)) &&
	       parse_pids(o, argv + 1, count);
}

void snap_options_free(struct snap_options *o)
{
	free(o->pids);
}

bool snap_options_select(const struct snap_options *o)
{
	return o->pid_count || o->match || o->children_of || o->puma;
}

void snap_options_help(void)
{
	printf("usage: jprof snap [OPTIONS] PID...   dumps of live processes, in one bundle that\n"
	       "                                     can be read anywhere\n"
	       "       jprof snap                    which processes there are\n"
	       "\n"
	       "The processes' agents (see jprof run) are asked through their sockets; no signal\n"
	       "is sent. What cannot be had is said in one line, and the process goes on. The\n"
	       "bundle's path is printed.\n"
	       "\n");
	opt_help(&snap_table, 0);
	printf("\n"
	       "  jprof snap --puma --label=boot -o /var/tmp\n"
	       "  jprof snap --gc --count=12 --every=10m --keep=50 4711\n");
}
