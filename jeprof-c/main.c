#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/budget.h"
#include "cli/names.h"
#include "cli/say.h"
#include "commands.h"
#include "report/edit.h"
#include "report/options.h"

/* Commands with options of their own: known by the first word alone. argv[0] is the command's name. */
static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "bundle", cmd_bundle },
	{ "doctor", cmd_doctor },
	{ "run", cmd_run },
	{ "snap", cmd_snap },
};

/* Commands that take the options of a report, before their name too. */
static const struct {
	const char *name;
	int (*run)(const struct options *);
} reports[] = {
	{ "info", cmd_info },
};

/* What is asked for as a report, and is a command of its own. */
static const struct {
	const char *output;
	int (*run)(const struct options *);
} outputs[] = {
	{ "symbols", cmd_symbols },
	{ "interactive", cmd_interactive },
	{ "i", cmd_interactive },
};

static bool called_as_jeprof(const char *name)
{
	return name && !strcmp(base_name(name), "jeprof");
}

/* Whether one letter too many, too few, wrong, or two the wrong way round make one of the other. */
static bool is_slip(const char *typed, const char *name)
{
	while (*typed && *typed == *name)
		typed++, name++;
	if (!*typed || !*name)
		return strlen(typed) + strlen(name) == 1;
	return !strcmp(typed + 1, name) || !strcmp(typed, name + 1) || !strcmp(typed + 1, name + 1) ||
	       (typed[0] == name[1] && typed[1] == name[0] && !strcmp(typed + 2, name + 2));
}

static const char *command_like(const char *word)
{
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (is_slip(word, commands[i].name))
			return commands[i].name;
	for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
		if (is_slip(word, reports[i].name))
			return reports[i].name;
	return NULL;
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

static int run_report(const struct options *options)
{
	if (options->help) {
		options_help();
		return 0;
	}
	if (options->version) {
		printf("jprof %s; demangler: %s; line editor: %s\n", jprof_version(), jprof_features(),
		       edit_terminal_name());
		return 0;
	}
	if (options->operand_count && is_misspelt(options->operands[0]))
		return 1;
	if (options->operand_count)
		for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
			if (!strcmp(options->operands[0], reports[i].name)) {
				struct options rest = *options;
				rest.operands++;
				rest.operand_count--;
				return reports[i].run(&rest);
			}
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
	options_help();
	return 0;
}

static int run_command(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "help") && access("help", F_OK))
		return command_help(argc - 1, argv + 1);
	struct options options = {
		.output = "text",
		.as_jeprof = argc && called_as_jeprof(argv[0]),
		.nodefraction = 0.005,
		.edgefraction = 0.001,
		.fold = argc && called_as_jeprof(argv[0]) ? FOLD_NONE : FOLD_ALLOC,
	};
	return options_parse(&options, argc, argv) && budget_watch(options.max_memory) ? run_report(&options) : 1;
}

int main(int argc, char **argv)
{
	int status = run_command(argc, argv);
	if (fflush(stdout) || ferror(stdout)) {
		if (errno == EPIPE)
			return 0;
		say("standard output cannot be written: %s", strerror(errno));
		return 1;
	}
	return status;
}
