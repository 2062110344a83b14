/* The commands: each in a file of its own, with the exit status as result. */
#pragma once

struct options;

/* What the words ask for: dispatch.c. The exit status. */
int command_run(int argc, char **argv);

/* With the options of a report. */
int cmd_explain(const struct options *options);
int cmd_info(const struct options *options);
int cmd_interactive(const struct options *options);
int cmd_page(const struct options *options);
int cmd_report(const struct options *options);
int cmd_symbols(const struct options *options);

/* With options of their own: argv[0] is the command's name. */
int cmd_bundle(int argc, char **argv);
int cmd_cache(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_keepers(int argc, char **argv);
int cmd_names(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_snap(int argc, char **argv);
int cmd_watch(int argc, char **argv);
