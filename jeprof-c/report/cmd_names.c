/* jprof names learn FILE [DEBUGFILE] -o PACK: names for stripped builds of the same library. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cli/filename.h"
#include "cli/newfile.h"
#include "cli/optparse.h"
#include "cli/sandbox.h"
#include "cli/say.h"
#include "commands.h"
#include "jprof.h"

struct names_options {
	const char *output, *soname, *version, *source, *distribution;
	bool help;
};

#define NAMES_AT(member) offsetof(struct names_options, member)

static const struct opt_row names_rows[] = {
	{ "output", OPT_TEXT, NAMES_AT(output), 0, NULL, "FILE",
	  "the pack to make; -o FILE is the same. Nothing is overwritten" },
	{ "soname", OPT_TEXT, NAMES_AT(soname), 0, NULL, "NAME",
	  "what it is loaded as: else what the file says, or its name" },
	{ "version", OPT_TEXT, NAMES_AT(version), 0, NULL, "TEXT", "the version of the library, or of its package" },
	{ "source", OPT_TEXT, NAMES_AT(source), 0, NULL, "TEXT", "the package that it was built from" },
	{ "distribution", OPT_TEXT, NAMES_AT(distribution), 0, NULL, "TEXT", "where that is from" },
	{ "help", OPT_SWITCH, NAMES_AT(help), 0, NULL, NULL, "this text" },
};

static const struct opt_table names_table = { .rows = names_rows,
	                                      .count = sizeof names_rows / sizeof *names_rows,
	                                      .help = "jprof names --help" };

static int names_help(void)
{
	printf("usage: jprof names learn [OPTIONS] -o NAME.jnames FILE [DEBUGFILE]\n"
	       "\n"
	       "Makes a pack of names out of a library that is not stripped, or of a stripped\n"
	       "one and its debug file. In a directory of packs it names the functions of\n"
	       "stripped builds of the same source; man jprof-names says of which, and how sure\n"
	       "the names are.\n"
	       "\n");
	opt_help(&names_table, 0);
	printf("\n"
	       "Example\n"
	       "  jprof names learn -o ~/.local/share/jprof/names/ruby.jnames libruby.so.3.1\n");
	return 0;
}

static bool learn(const struct names_options *o, const char *file, const char *debug)
{
	struct jprof_error err;
	struct newfile pack = { 0 };
	const struct jprof_names_opts opts = { .size = sizeof opts,
		                               .soname = o->soname,
		                               .version = o->version,
		                               .source = o->source,
		                               .distribution = o->distribution,
		                               .finder = sandbox_finder(false) };
	if (!filename_fits(o->output, "names") || !newfile_open(&pack, o->output))
		return false;
	int rc = jprof_names_learn(file, debug, &opts, newfile_write, &pack, &err);
	sandbox_end();
	if (rc && rc != JPROF_E_WRITE) {
		newfile_abandon(&pack);
		say_error(&err);
		return false;
	}
	return newfile_commit(&pack);
}

int cmd_names(int argc, char **argv)
{
	struct names_options o = { 0 };
	int count;
	if (!opt_parse(&names_table, &o, argc, argv, &count))
		return 1;
	if (o.help)
		return names_help();
	if (!count || strcmp(argv[1], "learn") != 0 || count < 2 || count > 3)
		say("give the file whose names the pack shall have: jprof names learn -o NAME.jnames FILE [DEBUGFILE]");
	else if (!o.output)
		say("give the pack a name: -o NAME.jnames");
	else
		return learn(&o, argv[2], count > 2 ? argv[3] : NULL) ? 0 : 1;
	return 1;
}
