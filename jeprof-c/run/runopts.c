#include "run/runopts.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/names.h"
#include "cli/optparse.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "jprof-live.h"

enum { sample_max = 40, label_max = 64 };

#define RUN_AT(member) offsetof(struct run_options, member)

static const struct opt_row run_rows[] = {
	{ "sample", OPT_TEXT, RUN_AT(sample_text), 0, NULL, "N",
	  "one sample for so many allocated bytes: 128K, or 17 (lg_prof_sample, 2^17); fewer samples cost less and say less" },
	{ "dir", OPT_TEXT, RUN_AT(dir), 0, NULL, "DIR",
	  "where dumps go; jprof makes it if it is not there. Default: jprof-UID in $TMPDIR or /tmp; of --print-env: /tmp" },
	{ "label", OPT_TEXT, RUN_AT(label), 0, NULL, "WORD", "the dumps' first word; default: the program's name" },
	{ "alloc", OPT_SWITCH, RUN_AT(alloc), 0, NULL, NULL,
	  "also counts what was freed (prof_accum:true), for --alloc_space; samples have no epochs then" },
	{ "inactive", OPT_SWITCH, RUN_AT(inactive), 0, NULL, NULL,
	  "takes no samples (prof_active:false) until jprof snap --activate PID" },
	{ "at", OPT_TEXT, RUN_AT(at), 0, NULL, "peak",
	  "makes a dump at each new peak of memory, at least a tenth and a minute after the last one; keeps the newest two" },
	{ "slots", OPT_TEXT, RUN_AT(slots), 0, NULL, "N",
	  "how many bytes lie between samples of objects in slots of Ruby's own heap (128k; Ruby 3.1 to 4.0); or off" },
	{ "jemalloc", OPT_TEXT, RUN_AT(jemalloc), 0, NULL, "FILE",
	  "uses this jemalloc; $JPROF_JEMALLOC does the same" },
	{ "no-agent", OPT_SWITCH, RUN_AT(no_agent), 0, NULL, NULL,
	  "leaves out the agent; jprof snap cannot ask for dumps then" },
	{ "require", OPT_SWITCH, RUN_AT(require), 0, NULL, NULL, "starts nothing that cannot be profiled" },
	{ "print-env", OPT_MAYBE, RUN_AT(print_env), 0, NULL, ENV_FORMS, "prints the variables and starts nothing" },
	{ "help", OPT_SWITCH, RUN_AT(help), 0, NULL, NULL, "this text" },
};

static const struct opt_table run_table = {
	.rows = run_rows, .count = sizeof run_rows / sizeof *run_rows, .help = "jprof run --help", .command = true
};

void run_options_help(void)
{
	printf("usage: jprof run [OPTIONS] [--] COMMAND...       starts COMMAND under profiling\n"
	       "       jprof run --print-env[=FORM] [OPTIONS]    prints the variables that do it\n"
	       "\n"
	       "Finds a jemalloc that can profile, proves it by running it once in a program\n"
	       "that does nothing, and starts COMMAND with LD_PRELOAD and MALLOC_CONF set. What\n"
	       "these have already is kept. A COMMAND that cannot be profiled is started all the\n"
	       "same, and one line says why.\n"
	       "\n");
	opt_help(&run_table, 0);
	printf("\n"
	       "  jprof run -- bundle exec puma\n"
	       "  jprof run --print-env=docker --dir=/dumps\n");
}

/* ---- what is asked ---------------------------------------------------------------------------------- */

static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-";

static bool check_label(const char *label)
{
	if (jprof_agent_label_good(label) && *label != '.')
		return true;
	say("--label=%s: give 1 to %d of A-Z a-z 0-9 . _ -, the first no dot", label, label_max);
	return false;
}

static bool find_form(struct run_options *o)
{
	if (!o->print_env)
		return true;
	int place = *o->print_env ? opt_word(ENV_FORMS, o->print_env) : 0;
	o->form = (enum env_form)(ENV_SHELL + place);
	if (place >= 0)
		return true;
	say("--print-env=%s: give one of %s", o->print_env, ENV_FORMS);
	return false;
}

/* "128K" and "17" are the same. */
static bool find_sample(struct run_options *o)
{
	static const char units[] = "KMG";
	char *end;
	if (!o->sample_text)
		return true;
	unsigned long number = strtoul(o->sample_text, &end, 10);
	const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
	bool good = *o->sample_text >= '0' && *o->sample_text <= '9' && number && number < 1UL << 20 &&
	            (unit ? !end[1] || !strcasecmp(end + 1, "B") || !strcasecmp(end + 1, "iB") : !*end);
	size_t log = unit ? shift : number;
	for (unsigned long left = number; unit && left > 1; left /= 2)
		log++;
	if (!good || log > sample_max) {
		say("--sample=%s: give the logarithm of bytes, 17 for a sample each 128 KiB, or bytes with a unit: 128K",
		    o->sample_text);
		return false;
	}
	o->sample = log;
	if (!unit || !(number & (number - 1)))
		return true;
	say("--sample=%s: is no power of two; %lu%c and %lu%c are", o->sample_text, 1UL << (log - shift), *unit,
	    2UL << (log - shift), *unit);
	return false;
}

/* As the agent reads them. */
static bool check_slots_option(const struct run_options *o)
{
	char *end;
	unsigned long number = o->slots ? strtoul(o->slots, &end, 10) : 1;
	if (!o->slots || !strcmp(o->slots, "off"))
		return true;
	if (*o->slots < '0' || *o->slots > '9' || !number || !*end || !strchr("bkm", *end) || end[1] || number > 1024) {
		say("--slots=%s: give 128k, 1 to 1024 b, k or m, or off", o->slots);
		return false;
	}
	if (o->no_agent)
		say("--slots is the agent's work, which --no-agent leaves out");
	return !o->no_agent;
}

static bool check_run_options(const struct run_options *o, int operands)
{
	if (!operands && o->form == ENV_NONE) {
		say("no command to start; usage: jprof run [OPTIONS] -- COMMAND...");
		return false;
	}
	if (o->at && strcmp(o->at, "peak") != 0) {
		say("--at=%s: give peak; JPROF_AGENT=at=rss:900M and the like are in man jprof-agent", o->at);
		return false;
	}
	if (o->at && o->no_agent) {
		say("--at=peak is the agent's work, which --no-agent leaves out");
		return false;
	}
	return check_slots_option(o) && (!o->label || check_label(o->label));
}

char *run_label(const char *program)
{
	char *label = shortage_note(strdup(jp_basename(program)));
	for (char *p = label; p && *p; p++)
		if (!strchr(letters, *p))
			*p = '_';
	if (label && *label == '.')
		*label = '_';
	if (label && strlen(label) > label_max)
		label[label_max] = '\0';
	return label;
}

bool run_options_parse(struct run_options *o, int argc, char **argv)
{
	int operands;
	*o = (struct run_options){ 0 };
	if (!opt_parse(&run_table, o, argc, argv, &operands))
		return false;
	argv[1 + operands] = NULL;
	return o->help || (find_form(o) && find_sample(o) && check_run_options(o, operands));
}
