#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "say.h"

static const struct {
	const char *name;
	int (*run)(const struct options *);
} commands[] = {
	{ "info", cmd_info },
};

static bool called_as_jeprof(const char *name)
{
	const char *slash = name ? strrchr(name, '/') : NULL;
	return name && !strcmp(slash ? slash + 1 : name, "jeprof");
}

static int run(const struct options *options)
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
		for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
			if (!strcmp(options->operands[0], commands[i].name)) {
				struct options rest = *options;
				rest.operands++;
				rest.operand_count--;
				return commands[i].run(&rest);
			}
	return cmd_report(options);
}

int main(int argc, char **argv)
{
	struct options options = {
		.counter = JPROF_INUSE_SPACE,
		.fold = argc && called_as_jeprof(argv[0]) ? JPROF_FOLD_NONE : JPROF_FOLD_ALLOC,
	};
	if (!options_parse(&options, argc, argv))
		return 1;
	int status = run(&options);
	if (fflush(stdout) || ferror(stdout)) {
		if (errno == EPIPE)
			return 0;
		say("standard output cannot be written: %s", strerror(errno));
		return 1;
	}
	return status;
}
