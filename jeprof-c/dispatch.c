/* The program jprof: all commands, and reports. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/budget.h"
#include "cli/confine.h"
#include "cli/names.h"
#include "cli/nearest.h"
#include "cli/say.h"
#include "cli/wholefile.h"
#include "commands.h"
#include "report/edit.h"
#include "report/options.h"

/* Commands with options of their own: known by the first word alone. argv[0] is the command's name. */
static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	/* clang-format off */
	{ "bundle", cmd_bundle },
	{ "cache", cmd_cache },
	{ "check", cmd_check },
	{ "diff", cmd_diff },
	{ "doctor", cmd_doctor },
	{ "keepers", cmd_keepers },
	{ "names", cmd_names },
	{ "run", cmd_run },
	{ "serve", cmd_serve },
	{ "snap", cmd_snap },
	{ "watch", cmd_watch },
	/* clang-format on */
};

/* Commands that take the options of a report, before their name too. */
static const struct {
	const char *name;
	int (*run)(const struct options *);
	void (*help)(void);
} reports[] = {
	{ "explain", cmd_explain, options_explain_help },
	{ "info", cmd_info, options_info_help },
};

/* What is asked for as a report, and is a command of its own. */
static const struct {
	const char *output;
	int (*run)(const struct options *);
} outputs[] = {
	{ "symbols", cmd_symbols },
	{ "interactive", cmd_interactive },
	{ "i", cmd_interactive },
	{ "html", cmd_page },
};

static int show_help(void (*help)(void))
{
	help();
	return 0;
}

static bool called_as_jeprof(const char *name)
{
	return name && !strcmp(jp_basename(name), "jeprof");
}

#define RUN_AND_SNAP                                                                                                   \
	"jprof run -- COMMAND... starts a program under profiling, and jprof snap PID takes a snapshot of it"

/* Words that look like commands, and what does it today: not a program in PATH. A file of that name here is meant. */
static const struct {
	const char *name;
	const char *instead;
} no_commands[] = {
	{ "add", "jprof DUMP DUMP... adds dumps up" },
	{ "analyze", "jprof DUMP shows where the memory is" },
	{ "attach", RUN_AND_SNAP },
	{ "compare", "jprof diff EARLIER LATER shows what grew" },
	{ "convert", "jprof --help lists the formats: --json, --csv, --proto and others" },
	{ "dump", "jprof snap PID takes a snapshot of a process" },
	{ "export", "jprof --help lists the formats: --json, --csv, --proto and others" },
	{ "flame", "jprof --flame -o FILE.svg DUMP draws a flame graph; --collapsed is what flamegraph.pl draws" },
	{ "flamegraph", "jprof --flame -o FILE.svg DUMP draws a flame graph; --collapsed is what flamegraph.pl draws" },
	{ "graph", "jprof --svg -o FILE DUMP draws the call graph" },
	{ "heap", "jprof DUMP shows where the memory is" },
	{ "leak", "jprof diff EARLIER LATER shows what grew" },
	{ "leaks", "jprof diff EARLIER LATER shows what grew" },
	{ "list-pids", "jprof snap lists the processes" },
	{ "memory", "jprof explain SNAPSHOT says where all memory is" },
	{ "merge", "jprof DUMP DUMP... adds dumps up" },
	{ "open", "jprof DUMP shows where the memory is" },
	{ "ps", "jprof snap lists the processes" },
	{ "record", RUN_AND_SNAP },
	{ "report", "jprof DUMP shows where the memory is" },
	{ "show", "jprof DUMP shows where the memory is" },
	{ "start", RUN_AND_SNAP },
	{ "stats", "jprof explain SNAPSHOT says where all memory is" },
	{ "stop", "jprof snap --deactivate PID ends sampling in a process" },
	{ "top", "jprof --top=N DUMP prints the first N rows" },
	{ "version", "jprof --version prints it" },
	{ "view", "jprof DUMP shows where the memory is" },
};

/* The name of an option without its dashes. One that takes a value may be a program here: ruby, and --ruby=only. */
static bool is_bare_option(const char *word)
{
	bool value;
	if (!options_have(word, &value))
		return false;
	char *program = value ? program_in_path(word) : NULL;
	free(program);
	return !program;
}

/* Also the name of an option without its dashes. */
static bool is_no_command(const char *word)
{
	if (!*word || !access(word, F_OK))
		return false;
	for (size_t i = 0; i < sizeof no_commands / sizeof *no_commands; i++)
		if (!strcmp(word, no_commands[i].name)) {
			say("there is no command %s; %s", word, no_commands[i].instead);
			return true;
		}
	if (is_bare_option(word))
		say("there is no command %s; it is an option: jprof --%s, see jprof --help", word, word);
	else
		return false;
	return true;
}

/* A command with options of its own whose name stands behind options. */
static bool is_late_command(const char *word)
{
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (!strcmp(word, commands[i].name) && access(word, F_OK)) {
			say("%s stands before its options: jprof %s [OPTIONS] ...", word, word);
			return true;
		}
	return false;
}

static const char *command_like(const char *word)
{
	struct nearest nearest = nearest_to(word, strlen(word));
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		nearest_try(&nearest, commands[i].name);
	for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
		nearest_try(&nearest, reports[i].name);
	return nearest.best;
}

/* A word that is neither file nor program, and nearly a command. */
static bool is_misspelt(const char *word)
{
	const char *like = command_like(word);
	char *program = like ? program_in_path(word) : NULL;
	bool misspelt = like && !program && access(word, F_OK);
	free(program);
	if (misspelt)
		say("%s: no such command or file; is it jprof %s? jprof --help lists the commands", word, like);
	return misspelt;
}

/* `jprof PID`, which is `jprof explain PID`, or of a core. */
static bool is_process(const struct options *o)
{
	int pid;
	if (o->operand_count != 1 || o->help || o->version)
		return false;
	return access(o->operands[0], F_OK) ? is_pid(o->operands[0], &pid) : is_core(o->operands[0]);
}

static int run_report(const struct options *options)
{
	const char *first = options->operand_count ? options->operands[0] : "";
	if (is_process(options)) {
		struct options of_process = *options;
		of_process.command = "explain";
		return cmd_explain(&of_process);
	}
	if ((options->rules || options->puma || options->gc || options->unreachable || options->copied) &&
	    strcmp(first, "explain") != 0) {
		say("--%s is for jprof explain", options->rules         ? "rules=FILE"
		                                 : options->puma        ? "puma"
		                                 : options->unreachable ? "unreachable"
		                                 : options->copied      ? "copied"
		                                                        : "gc");
		return 1;
	}
	if (options->granularity == ROWS_BY_REFERRER && strcmp(first, "explain") != 0) {
		say("--by=referrer is for jprof explain");
		return 1;
	}
	if (options->open && options_form(options) != FORM_HTML) {
		say("--open is for --html; --web opens the call graph");
		return 1;
	}
	if (options->version) {
		printf("jprof %s; demangler: %s; line editor: %s; sandbox: %s\n", jprof_version(), jprof_features(),
		       edit_module_name(), confine_kinds());
		return 0;
	}
	for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
		if (!strcmp(first, reports[i].name)) {
			struct options rest = *options;
			rest.operands++;
			rest.operand_count--;
			rest.command = reports[i].name;
			return options->help ? show_help(reports[i].help) : reports[i].run(&rest);
		}
	if (options->help)
		return show_help(options_help);
	if ((options->operand_count && is_no_command(first)) || is_late_command(first) ||
	    (*first && is_misspelt(first)))
		return 1;
	for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++)
		if (!strcmp(options->output, outputs[i].output))
			return outputs[i].run(options);
	return cmd_report(options);
}

/* `jprof help [COMMAND]`, as --help. */
static int command_help(int argc, char **argv)
{
	char *words[] = { argc > 1 ? argv[1] : argv[0], (char[]){ "--help" }, NULL };
	for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(2, words);
	for (size_t i = 0; argc > 1 && i < sizeof reports / sizeof *reports; i++)
		if (!strcmp(argv[1], reports[i].name))
			return show_help(reports[i].help);
	if (argc < 2 || *argv[1] == '-')
		return show_help(options_help);
	if (!is_no_command(argv[1]))
		say("%s: no such command; jprof --help lists the commands", argv[1]);
	return 1;
}

int command_run(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "help"))
		return command_help(argc - 1, argv + 1);
	struct options options = {
		.output = "text",
		.granularity = ROWS_USUAL,
		.heap = HEAP_USUAL,
		.top = TOP_FITS,
		.as_jeprof = argc && called_as_jeprof(argv[0]),
		.nodefraction = 0.005,
		.edgefraction = 0.001,
		.fold = argc && called_as_jeprof(argv[0]) ? FOLD_NONE : FOLD_STD,
		.sort = argc && called_as_jeprof(argv[0]) ? SORT_VALUE : SORT_CHANGE,
	};
	return options_parse(&options, argc, argv) && budget_watch(options.max_memory) ? run_report(&options) : 1;
}
