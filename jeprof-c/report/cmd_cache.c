/* jprof cache [--empty]: what is kept of names, and where. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cachedir.h"
#include "cli/optparse.h"
#include "cli/say.h"
#include "cli/terminal.h"
#include "commands.h"
#include "jprof.h"

struct cache_options {
	bool empty, help;
};

#define CACHE_AT(member) offsetof(struct cache_options, member)

static const struct opt_row cache_rows[] = {
	{ "empty", OPT_SWITCH, CACHE_AT(empty), 0, NULL, NULL, "removes all that is kept there" },
	{ "help", OPT_SWITCH, CACHE_AT(help), 0, NULL, NULL, "this text" },
};

static const struct opt_table cache_table = { .rows = cache_rows,
	                                      .count = sizeof cache_rows / sizeof *cache_rows,
	                                      .help = "jprof cache --help" };

static int cache_help(void)
{
	printf("usage: jprof cache [--empty]\n"
	       "\n"
	       "Says where jprof keeps the names that it found, so that the next report of the\n"
	       "same program is quick, and how much that is. Only names are kept, never a\n"
	       "report. A report is the same with and without; --no-cache makes it without.\n"
	       "\n"
	       "The directory is $JPROF_CACHE, else $XDG_CACHE_HOME/jprof, else ~/.cache/jprof;\n"
	       "with JPROF_CACHE= nothing is kept. jprof snap by root keeps names only where\n"
	       "JPROF_CACHE says. A directory that others can write is not used. What is kept\n"
	       "of a file was found by a process that read files of its owner in its directory\n"
	       "alone, or of the system's.\n"
	       "\n");
	opt_help(&cache_table, 0);
	return 0;
}

static int show_cache(const char *dir, bool empty)
{
	struct jprof_cache_sum sum;
	struct jprof_error err;
	int rc = empty ? jprof_cache_empty(dir, &sum, &err) : jprof_cache_measure(dir, &sum, &err);
	if (rc)
		say_error(&err);
	else if (empty)
		printf("%s: %" PRIu64 " files removed, %.1f MB\n", dir, sum.files, (double)sum.bytes / mb);
	else
		printf("%s: names from %" PRIu64 " files, %.1f MB of %.0f at most\n", dir, sum.files,
		       (double)sum.bytes / mb, (double)sum.most / mb);
	return rc ? 1 : 0;
}

int cmd_cache(int argc, char **argv)
{
	struct cache_options o = { 0 };
	int count;
	if (!opt_parse(&cache_table, &o, argc, argv, &count))
		return 1;
	if (o.help)
		return cache_help();
	if (count) {
		say("%s: jprof cache takes no operand; jprof cache --empty removes what is kept", argv[1]);
		return 1;
	}
	char *dir = cache_dir();
	int status = 0;
	if (dir)
		status = show_cache(dir, o.empty);
	else
		printf("no names are kept: JPROF_CACHE is empty, or there is no $HOME\n");
	free(dir);
	return status;
}
