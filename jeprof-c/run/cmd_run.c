/* jprof run [OPTIONS] -- COMMAND...: starts a program under profiling. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/names.h"
#include "cli/optparse.h"
#include "cli/say.h"
#include "commands.h"
#include "jprof-live.h"
#include "run/agentfile.h"
#include "run/dumpdir.h"
#include "run/mallconf.h"
#include "run/runenv.h"

enum { sample_default = 17, sample_max = 40, label_max = 64 };

struct run_options {
	bool help;
	bool inactive;
	bool no_agent;
	size_t sample;
	const char *dir;
	const char *label;
	const char *jemalloc;
	const char *print_env; /* how; "": shell */
	enum env_form form;
};

#define RUN_AT(member) offsetof(struct run_options, member)

static const struct opt_row run_rows[] = {
	{ "sample", OPT_NUMBER, RUN_AT(sample), 0, NULL, "N",
	  "lg_prof_sample: one sample for 2^N allocated bytes (17: 128 KiB); fewer samples cost less and say less" },
	{ "dir", OPT_TEXT, RUN_AT(dir), 0, NULL, "DIR",
	  "where dumps go; made if it is not there. Default: jprof-UID in $TMPDIR or /tmp; of --print-env: /tmp" },
	{ "label", OPT_TEXT, RUN_AT(label), 0, NULL, "WORD", "the dumps' first word; default: the program's name" },
	{ "inactive", OPT_SWITCH, RUN_AT(inactive), 0, NULL, NULL,
	  "take no samples (prof_active:false) until jprof snap --activate PID" },
	{ "jemalloc", OPT_TEXT, RUN_AT(jemalloc), 0, NULL, "FILE", "this jemalloc; $JPROF_JEMALLOC does the same" },
	{ "no-agent", OPT_SWITCH, RUN_AT(no_agent), 0, NULL, NULL,
	  "without the agent: then jprof snap cannot ask for dumps" },
	{ "print-env", OPT_MAYBE, RUN_AT(print_env), 0, NULL, ENV_FORMS, "print the variables and start nothing" },
	{ "help", OPT_SWITCH, RUN_AT(help), 0, NULL, NULL, "this text" },
};

static const struct opt_table run_table = {
	.rows = run_rows, .count = sizeof run_rows / sizeof *run_rows, .help = "jprof run --help", .command = true
};

static void put_run_help(void)
{
	printf("usage: jprof run [OPTIONS] [--] COMMAND...       starts COMMAND under profiling\n"
	       "       jprof run --print-env[=FORM] [OPTIONS]    prints the variables that do it\n"
	       "\n"
	       "Finds a jemalloc that can profile, proves it by running it once in a program\n"
	       "that does nothing, and starts COMMAND with LD_PRELOAD and MALLOC_CONF set. What\n"
	       "these have already is kept.\n"
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

static bool check_run_options(const struct run_options *o, int operands)
{
	if (o->sample > sample_max) {
		say("--sample=%zu: give the logarithm of bytes, 17 for a sample each 128 KiB", o->sample);
		return false;
	}
	if (!operands && o->form == ENV_NONE) {
		say("no command to start; usage: jprof run [OPTIONS] -- COMMAND...");
		return false;
	}
	return !o->label || check_label(o->label);
}

/* The program's name with only such characters as a label may have; owned by the caller. */
static char *run_label(const char *program)
{
	char *label = strdup(base_name(program));
	for (char *p = label; p && *p; p++)
		if (!strchr(letters, *p))
			*p = '_';
	if (label && *label == '.')
		*label = '_';
	if (label && strlen(label) > label_max)
		label[label_max] = '\0';
	return label;
}

/* ---- the program, its allocator, its agent ------------------------------------------------------ */

static bool program_to_run(struct program *target, char *const *argv)
{
	struct jprof_error err;
	char *self = *argv ? NULL : realpath("/proc/self/exe", NULL);
	int rc = *argv ? program_find(target, argv, &err) : program_open(target, self ? self : "/proc/self/exe", &err);
	free(self);
	if (rc) {
		say_error(&err);
		return false;
	}
	const struct jprof_binary_info *info = jprof_binary_info(target->binary);
	if (*info->interpreter && !target->secure)
		return true;
	if (target->secure)
		say("%s: is setuid, setgid or has file capabilities, so the loader ignores LD_PRELOAD; start the "
		    "program that it starts, or a copy without them",
		    target->path);
	else
		say("%s: is linked statically, so nothing can be preloaded; link jemalloc into it, or link it dynamically",
		    target->path);
	program_free(target);
	return false;
}

static void no_jemalloc(const struct allocator *a, const struct program *target)
{
	bool musl = !strcmp(jprof_binary_info(target->binary)->libc, "musl");
	const char *mend = musl ? "Alpine's package is built without profiling: build jemalloc with --enable-prof "
	                          "(docs/alpine.md) and give --jemalloc=FILE"
	                        : "install libjemalloc2 (Debian), or build jemalloc with --enable-prof and give "
	                          "--jemalloc=FILE";
	say("no jemalloc here that can profile %s%s%s%s; %s", target->name, *a->tried ? " (" : "", a->tried,
	    *a->tried ? ")" : "", mend);
}

/* One that the user names is believed where nothing is here to try it in. */
static bool believe(struct allocator *a, const struct program *target, const char *given)
{
	if (a->path || !given || !strstr(a->tried, "no program here to try it in"))
		return a->path != NULL;
	say("%s: not proved, for no program of %s's C library is here to try it in", given, target->name);
	a->from = ALLOCATOR_GIVEN;
	a->path = strdup(given);
	return a->path != NULL;
}

static bool choose_allocator(struct allocator *a, const struct program *target, const struct run_options *o)
{
	const char *set = getenv("JPROF_JEMALLOC");
	const char *given = o->jemalloc ? o->jemalloc : set && *set ? set : NULL;
	char *path = given ? realpath(given, NULL) : NULL;
	if (given && !path) {
		say("%s: %s", given, strerror(errno));
		return false;
	}
	bool good = allocator_find(a, target, path, getenv("LD_PRELOAD"));
	if (!good)
		say("jemalloc cannot be tried: memory is short, or no process can be started");
	if (good && !believe(a, target, path)) {
		no_jemalloc(a, target);
		allocator_free(a);
		good = false;
	}
	free(path);
	return good;
}

static bool agent_fits(const char *path, const struct program *target)
{
	struct jprof_binary *b;
	struct jprof_error err;
	char is[64];
	if (jprof_binary_open(NULL, path, &b, &err)) {
		say_error(&err);
		return false;
	}
	bool fits = program_fits(jprof_binary_info(target->binary), jprof_binary_info(b));
	program_describe(jprof_binary_info(b), is, sizeof is);
	jprof_binary_free(b);
	if (!fits)
		say("%s: is for %s, which %s is not: install the jprof of that system there, or give --no-agent", path,
		    is, target->name);
	return fits;
}

/* *agent is NULL if none is wanted; owned by the caller. */
static bool find_agent(char **agent, const struct run_options *o, const struct program *target)
{
	*agent = NULL;
	if (o->no_agent)
		return true;
	*agent = agent_file();
	if (!*agent)
		say("libjprof-agent.so is not where it was installed, so jprof snap could not ask for a dump: install jprof "
		    "whole, set JPROF_AGENT_LIB=FILE, or give --no-agent");
	if (*agent && agent_fits(*agent, target))
		return true;
	free(*agent);
	*agent = NULL;
	return false;
}

/* ---- starting ------------------------------------------------------------------------------------------ */

/* The very values once more, in a program that does nothing: what jemalloc refuses is said. */
static bool try_conf(const struct run_env *env, const struct allocator *a, const struct program *target)
{
	struct proof proof;
	char value[16] = "true", *rest;
	if (a->proof.proved != PROVED_PROFILES)
		return true;
	if (!prove(&proof, a->path, target, env->malloc_conf)) {
		say("jemalloc cannot be tried: memory is short, or no process can be started");
		return false;
	}
	bool on = !proof_option(&proof, "prof", value, sizeof value) || !strcmp(value, "true");
	for (char *line = strtok_r(proof.said, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		say("jemalloc says of MALLOC_CONF: %s", line);
	if (!on)
		say("with MALLOC_CONF=%s jemalloc does not profile; mend what it says above", env->malloc_conf);
	proof_free(&proof);
	return on;
}

static bool set_environment(const struct run_env *env)
{
	bool good = (!*env->ld_preload || !setenv("LD_PRELOAD", env->ld_preload, 1)) &&
	            !setenv("MALLOC_CONF", env->malloc_conf, 1) &&
	            (!env->jprof_agent || !setenv("JPROF_AGENT", env->jprof_agent, 1));
	if (!good)
		say("memory is short");
	return good;
}

/* The directory of the dumps: the user's prof_prefix stands unless the command line says otherwise. */
static bool check_prefix(const struct run_env *env)
{
	char prefix[4096];
	if (!conf_get(env->malloc_conf, "prof_prefix", prefix, sizeof prefix))
		return true;
	char *slash = strrchr(prefix, '/');
	if (slash)
		slash[slash == prefix] = '\0';
	char *dir = dump_dir(slash ? prefix : ".");
	bool good = dir != NULL;
	free(dir);
	return good;
}

static int start_program(const struct run_env *env, const struct allocator *a, char *const *argv)
{
	char prefix[4096] = "";
	conf_get(env->malloc_conf, "prof_prefix", prefix, sizeof prefix);
	say("%s: dumps go to %s.*.heap; jemalloc %s, %s", argv[0], prefix,
	    a->proof.proved == PROVED_NOTHING ? "was not tried" : a->proof.version, a->path);
	if (!set_environment(env))
		return 1;
	execvp(argv[0], argv);
	say("%s: cannot be started: %s", argv[0], strerror(errno));
	return 1;
}

/* Where MALLOC_CONF has a prefix of the user's and the command line says nothing of it, *dir is NULL: it stands. */
static bool choose_dir(const struct run_options *o, char **dir)
{
	const char *conf = getenv("MALLOC_CONF");
	char prefix[4096];
	*dir = NULL;
	if (!o->dir && !o->label && conf && conf_get(conf, "prof_prefix", prefix, sizeof prefix))
		return true;
	if (o->form == ENV_NONE)
		*dir = dump_dir(o->dir);
	else if (o->dir && *o->dir != '/')
		say("--dir=%s: give the absolute path that it has where the program runs", o->dir);
	else
		*dir = strdup(o->dir ? o->dir : "/tmp");
	return *dir != NULL;
}

static int print_or_start(const struct run_options *o, const struct program *target, const struct allocator *a,
                          const struct run_env *env, char *const *argv)
{
	if (!try_conf(env, a, target))
		return 1;
	if (o->form == ENV_NONE)
		return check_prefix(env) ? start_program(env, a, argv) : 1;
	run_env_print(env, o->form);
	return 0;
}

/* Puts together what was found. */
static int run_with(const struct run_options *o, const struct program *target, const struct allocator *a,
                    const char *agent, char *const *argv)
{
	bool other = *argv && !program_is_ruby(target) && !target->may_be;
	char *label = run_label(o->label ? o->label : *argv ? *argv : "app"), *dir;
	struct run_wish wish = {
		.label = label,
		.sample = o->sample ? o->sample : sample_default,
		.sample_given = o->sample,
		.inactive = o->inactive,
		.prefix_given = o->dir || o->label,
		.agent = agent,
		.target = other ? target->name : NULL,
	};
	struct run_env env;
	int status = 1;
	if (label && choose_dir(o, &dir)) {
		wish.dir = dir;
		if (run_env_make(&env, &wish, a)) {
			status = print_or_start(o, target, a, &env, argv);
			run_env_free(&env);
		}
		free(dir);
	}
	free(label);
	return status;
}

static int run_target(const struct run_options *o, const struct program *target, char *const *argv)
{
	struct allocator allocator;
	char *agent;
	int status = 1;
	if (!choose_allocator(&allocator, target, o))
		return 1;
	if (find_agent(&agent, o, target)) {
		status = run_with(o, target, &allocator, agent, argv);
		free(agent);
	}
	allocator_free(&allocator);
	return status;
}

int cmd_run(int argc, char **argv)
{
	struct run_options o = { 0 };
	struct program target;
	int operands;
	if (!opt_parse(&run_table, &o, argc, argv, &operands))
		return 1;
	if (o.help) {
		put_run_help();
		return 0;
	}
	argv[1 + operands] = NULL;
	if (!find_form(&o) || !check_run_options(&o, operands) || !program_to_run(&target, argv + 1))
		return 1;
	int status = run_target(&o, &target, argv + 1);
	program_free(&target);
	return status;
}
