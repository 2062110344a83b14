/* The program jprof-snap: what takes snapshots, and nothing that reads them. It is one static file, for containers
 * where nothing can be installed. */
#include <stdio.h>
#include <string.h>

#include "cli/say.h"
#include "commands.h"
#include "jprof.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "run", cmd_run, "start a program under profiling" },
	{ "snap", cmd_snap, "dump live processes into one file, a bundle" },
	{ "doctor", cmd_doctor, "find what is wrong with a set-up" },
	{ "bundle", cmd_bundle, "make a bundle of files at hand" },
};

static int show_help(void)
{
	puts("usage: jprof-snap COMMAND [OPTIONS]\n"
	     "\n"
	     "Takes snapshots of the heap of live processes. jprof reads them, on any machine.\n");
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		printf("  %-8s %s\n", commands[i].name, commands[i].help);
	puts("\njprof-snap COMMAND --help lists the options.");
	return 0;
}

int command_run(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "--help";
	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (!strcmp(word, commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	if (!strcmp(word, "--help") || !strcmp(word, "-h") || !strcmp(word, "help"))
		return show_help();
	if (!strcmp(word, "--version")) {
		printf("jprof-snap %s\n", jprof_version());
		return 0;
	}
	say("%s: jprof-snap has run, snap, doctor and bundle; reports are made by jprof, on any machine", word);
	return 1;
}
