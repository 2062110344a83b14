/* jprof run [OPTIONS] -- COMMAND...: starts a program under profiling, or without where that cannot be had: a profiler
 * never keeps a service down. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/names.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "commands.h"
#include "run/mallconf.h"
#include "run/plan.h"

static int become_program(char *const *argv)
{
	execvp(argv[0], argv);
	say("%s: cannot be started: %s", argv[0], strerror(errno));
	return 1;
}

static int start_profiled(const struct run_plan *plan, char *const *argv)
{
	const struct allocator *a = &plan->allocator;
	const char *version = a->proof.proved == PROVED_NOTHING ? "was not tried" : a->proof.version;
	char prefix[4096] = "";
	conf_get(plan->env.malloc_conf, "prof_prefix", prefix, sizeof prefix);
	if (plan->no_dir)
		say("%s: is profiled; jemalloc %s, %s", argv[0], version, a->path);
	else
		say("%s: dumps go to %s.*.heap; jemalloc %s, %s", argv[0], prefix, version, a->path);
	if (!run_env_set(&plan->env))
		return become_program(argv);
	say("%s: memory is short; it is started without profiling", argv[0]);
	return become_program(argv);
}

/* Whether there is anything that execvp could start. */
static bool is_startable(char *const *argv)
{
	char *path = program_in_path(argv[0]);
	bool good = path && is_executable(path);
	free(path);
	return good;
}

static int start_without(const struct run_options *o, char *const *argv, const struct jprof_error *why)
{
	char line[JPROF_ERROR_LINE];
	if (o->require || o->form != ENV_NONE || !is_startable(argv)) {
		say_error(why);
		return 1;
	}
	say("%s is started without profiling: %s", argv[0], jprof_error_line(why, line, sizeof line));
	return become_program(argv);
}

/* Where memory was short the plan may be another one than it would be, and what an error says may be wrong. */
static int make_plan(struct run_plan *plan, const struct run_options *o, char *const *argv, struct jprof_error *err)
{
	int rc = run_plan_make(plan, o, argv, false, err);
	return shortage_noted() ? fail_as(err, JPROF_E_NOMEM, "", "%s", shortage_why()) : rc;
}

int cmd_run(int argc, char **argv)
{
	struct run_options o;
	struct run_plan plan;
	struct jprof_error err;
	if (!run_options_parse(&o, argc, argv))
		return 1;
	if (o.help) {
		run_options_help();
		return 0;
	}
	int status = 0;
	if (make_plan(&plan, &o, argv + 1, &err))
		status = start_without(&o, argv + 1, &err);
	else if (o.form == ENV_NONE)
		status = start_profiled(&plan, argv + 1);
	else
		run_env_print(&plan.env, o.form);
	run_plan_free(&plan);
	return status;
}
