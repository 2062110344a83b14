#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "say.h"

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

static bool called_as_jeprof(const char *name)
{
	const char *slash = name ? strrchr(name, '/') : NULL;
	return name && !strcmp(slash ? slash + 1 : name, "jeprof");
}

static int run_report(const struct options *options)
{
	if (options->help) {
		options_help();
		return 0;
	}
	if (options->version) {
		printf("jprof %s; demangler: %s\n", jprof_version(), jprof_features());
		return 0;
	}
	if (options->operand_count)
		for (size_t i = 0; i < sizeof reports / sizeof *reports; i++)
			if (!strcmp(options->operands[0], reports[i].name)) {
				struct options rest = *options;
				rest.operands++;
				rest.operand_count--;
				return reports[i].run(&rest);
			}
	return cmd_report(options);
}

static int run(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof commands / sizeof *commands; i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	struct options options = {
		.counter = JPROF_INUSE_SPACE,
		.output = "text",
		.nodefraction = 0.005,
		.edgefraction = 0.001,
		.fold = argc && called_as_jeprof(argv[0]) ? JPROF_FOLD_NONE : JPROF_FOLD_ALLOC,
	};
	return options_parse(&options, argc, argv) ? run_report(&options) : 1;
}

int main(int argc, char **argv)
{
	int status = run(argc, argv);
	if (fflush(stdout) || ferror(stdout)) {
		if (errno == EPIPE)
			return 0;
		say("standard output cannot be written: %s", strerror(errno));
		return 1;
	}
	return status;
}
