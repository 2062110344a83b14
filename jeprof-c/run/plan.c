#include "run/plan.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/trust.h"
#include "run/dumpdir.h"
#include "run/mallconf.h"

/* Gives a path that is there with all links and dots resolved, owned by the caller; NULL if it is not to be used. */
typedef char *resolver_fn(const char *path);

static char *any_path(const char *path)
{
	return shortage_note(realpath(path, NULL));
}

static char *named(const char *dir, const char *below, const char *dash, const char *libc, resolver_fn *resolve)
{
	char path[4096];
	int n = snprintf(path, sizeof path, "%s%s/libjprof-agent%s%s.so", dir, below, dash, libc);
	return n > 0 && (size_t)n < sizeof path ? resolve(path) : NULL;
}

static char *there(const char *dir, const char *below, const char *libc, resolver_fn *resolve)
{
	char *found = *libc ? named(dir, below, "-", libc, resolve) : NULL;
	return found ? found : named(dir, below, "", "", resolve);
}

/* $JPROF_AGENT_LIB. Else the first place that has one: this program's build folder; where it was, or would be,
 * installed; its own folder, where others cannot write. Of two there, that for programs of `libc` ("glibc", "musl"; ""
 * where it is not known) comes first: libjprof-agent-LIBC.so, then libjprof-agent.so, which need not fit. NULL if there
 * is none. Owned by the caller. */
static char *agent_file(const char *libc)
{
	const char *set = getenv("JPROF_AGENT_LIB");
	char exe[4096];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	if (set && *set)
		return any_path(set);
	exe[n > 0 ? n : 0] = '\0';
	char *slash = strrchr(exe, '/'), *found = NULL;
	if (slash) {
		*slash = '\0';
		found = there(exe, "/../agent", libc, any_path);
	}
	if (!found)
		found = there(JPROF_LIBDIR, "/jprof", libc, any_path);
	/* A tree that was moved as a whole, and files that were copied into one folder. */
	if (!found && slash)
		found = there(exe, "/../" JPROF_LIBDIR_NAME "/jprof", libc, any_path);
	if (!found && slash)
		found = there(exe, "", libc, trusted_path);
	return found;
}

enum { sample_default = 17, name_most = 63 }; /* the latter: bytes of NAME in for=NAME */

/* Where no file can be made: jprof snap takes dumps from memory. */
static const char not_found[] = "/nonexistent";

static int short_memory(struct jprof_error *err)
{
	return fail_as(err, JPROF_E_NOMEM, "", "memory is short");
}

static int cannot_try(struct jprof_error *err)
{
	return fail_as(err, JPROF_E_IO, "", "jemalloc cannot be tried: memory is short, or no process can be started");
}

/* ---- the program ------------------------------------------------------------------------------------------ */

/* A program that tells the system's C library: this one, or where it is static the shell. */
static int open_usual(struct program *t, struct jprof_error *err)
{
	static const char *const usual[] = { "/proc/self/exe", "/bin/sh", "/usr/bin/env" };
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++) {
		char *path = shortage_note(realpath(usual[i], NULL));
		int rc = program_open(t, path ? path : usual[i], err);
		free(path);
		if (!rc && *jprof_binary_info(t->binary)->interpreter)
			return 0;
		if (!rc)
			program_free(t);
	}
	return fail_as(err, JPROF_E_UNSUPPORTED, "",
	               "nothing here tells this system's C library: name the program itself, behind --");
}

/* In place of a launcher that is static: what it starts is most likely a program of this system. */
static int stand_in(struct program *t, struct jprof_error *err)
{
	struct program own;
	int rc = open_usual(&own, err);
	if (rc)
		return rc;
	own.may_be = true;
	own.user = t->user;
	program_free(t);
	*t = own;
	return 0;
}

static int check_target(struct program *t, struct jprof_error *err)
{
	if (t->dropped_by)
		return fail_as(err, JPROF_E_UNSUPPORTED, "",
		               "%s takes LD_PRELOAD out of the environment; put jprof run behind it, in front of %s",
		               t->dropped_by, t->name);
	if (t->sets)
		return fail_as(err, JPROF_E_UNSUPPORTED, "",
		               "env %s would replace what jprof sets; set it before: env %s jprof run -- COMMAND",
		               t->sets, t->sets);
	if (t->secure)
		return fail_as(
		    err, JPROF_E_UNSUPPORTED, t->path,
		    "is setuid, setgid or has file capabilities, so the loader ignores LD_PRELOAD; start the "
		    "program that it starts, or a copy without them");
	if (*jprof_binary_info(t->binary)->interpreter)
		return 0;
	if (t->may_be)
		return stand_in(t, err);
	return fail_as(
	    err, JPROF_E_UNSUPPORTED, t->path,
	    "is linked statically, so nothing can be preloaded; link jemalloc into it, or link it dynamically");
}

static int find_target(struct program *target, char *const *argv, struct jprof_error *err)
{
	int rc = *argv ? program_find(target, argv, err) : open_usual(target, err);
	return rc ? rc : check_target(target, err);
}

/* ---- its allocator ------------------------------------------------------------------------------------------ */

static int no_jemalloc(const struct allocator *a, const struct program *target, struct jprof_error *err)
{
	bool musl = !strcmp(jprof_binary_info(target->binary)->libc, "musl");
	const char *fix = musl ? "Alpine's package is built without profiling: build jemalloc with --enable-prof "
	                         "(man jprof-run) and give --jemalloc=FILE"
	                       : "install libjemalloc2 (Debian), or build jemalloc with --enable-prof and give "
	                         "--jemalloc=FILE";
	return fail_as(err, JPROF_E_UNSUPPORTED, "", "no jemalloc here that can profile %s%s%s%s; %s", target->name,
	               *a->tried ? " (" : "", a->tried, *a->tried ? ")" : "", fix);
}

/* One that the user names is believed where nothing is here to try it in. */
static bool believe(struct allocator *a, const struct program *target, const char *given)
{
	if (a->path || !given || !strstr(a->tried, "no program here to try it in"))
		return a->path != NULL;
	say("%s: not proved, for no program of %s's C library is here to try it in", given, target->name);
	a->from = ALLOCATOR_GIVEN;
	a->path = shortage_note(strdup(given));
	return a->path != NULL;
}

static int choose_allocator(struct allocator *a, const struct program *target, const struct run_options *o,
                            struct jprof_error *err)
{
	const char *set = getenv("JPROF_JEMALLOC");
	const char *given = o->jemalloc ? o->jemalloc : set && *set ? set : NULL;
	char *path = given ? shortage_note(realpath(given, NULL)) : NULL;
	if (given && !path)
		return fail_as(err, JPROF_E_IO, given, "%s", strerror(errno));
	int rc = allocator_find(a, target, path, getenv("LD_PRELOAD")) ? 0 : cannot_try(err);
	if (!rc && !believe(a, target, path)) {
		rc = no_jemalloc(a, target, err);
		allocator_free(a);
	} else if (!rc && a->gives_way) {
		say("LD_PRELOAD names %s, which was built without profiling: %s takes its place", a->gives_way,
		    a->path);
	}
	free(path);
	return rc;
}

/* ---- the agent ---------------------------------------------------------------------------------------------- */

/* Where only the C library differs, one for each can stand side by side. */
static int agent_does_not_fit(const char *path, const struct jprof_binary_info *agent, const struct program *target,
                              struct jprof_error *err)
{
	const struct jprof_binary_info *program = jprof_binary_info(target->binary);
	char is[64], beside[64] = "";
	program_describe(agent, is, sizeof is);
	if (agent->machine == program->machine && agent->bits == program->bits)
		snprintf(beside, sizeof beside, " beside it, as libjprof-agent-%s.so", program->libc);
	return fail_as(err, JPROF_E_UNSUPPORTED, path,
	               "is for %s, which %s is not: install the one of that system%s, or give --no-agent", is,
	               target->name, beside);
}

static int check_agent_file(const char *path, const struct program *target, struct jprof_error *err)
{
	struct jprof_binary *b;
	int rc = shortage_note_code(jprof_binary_open(NULL, path, &b, err));
	if (rc)
		return rc;
	if (!program_fits(jprof_binary_info(target->binary), jprof_binary_info(b)))
		rc = agent_does_not_fit(path, jprof_binary_info(b), target, err);
	jprof_binary_free(b);
	return rc;
}

static int find_agent(char **agent, const struct program *target, const struct allocator *a, struct jprof_error *err)
{
	if (a->hidden)
		return fail_as(
		    err, JPROF_E_UNSUPPORTED, target->path,
		    "its own jemalloc does not export %s, by which the agent asks it for dumps: link it with "
		    "-Wl,--export-dynamic-symbol=%s",
		    a->hidden, a->hidden);
	*agent = agent_file(jprof_binary_info(target->binary)->libc);
	if (*agent)
		return check_agent_file(*agent, target, err);
	return fail_as(
	    err, JPROF_E_IO, "",
	    "libjprof-agent.so is not where it was installed, so jprof snap could not ask for a dump: install "
	    "jprof whole, set JPROF_AGENT_LIB=FILE, or give --no-agent");
}

/* A library that does not load ends the program: an agent for a newer C library, for example. */
static int try_agent(const struct run_plan *plan, struct jprof_error *err)
{
	struct proof proof;
	if (!plan->agent)
		return 0;
	if (!prove(&proof, plan->agent, &plan->target, NULL))
		return cannot_try(err);
	int rc = 0;
	if (proof.proved == PROVED_BROKEN)
		rc = fail_as(err, JPROF_E_UNSUPPORTED, plan->agent,
		             "a program that does nothing does not end well with it: %.*s; give --no-agent",
		             (int)strcspn(proof.said, "\n"), proof.said);
	proof_free(&proof);
	return rc;
}

/* ---- the directory ------------------------------------------------------------------------------------------ */

/* Dumps need no file: jprof snap gets them in memory, from the agent. */
static char *do_without_files(const struct jprof_error *why, bool agent)
{
	char line[JPROF_ERROR_LINE];
	say("%s; no dump goes to a file then, and %s", jprof_error_line(why, line, sizeof line),
	    agent ? "jprof snap gets them all the same" : "without the agent jprof snap gets none");
	return shortage_note(strdup(not_found));
}

static int make_dir(struct run_plan *plan, const struct run_options *o, struct jprof_error *err)
{
	int rc = dump_dir(o->dir, plan->target.user, &plan->dir, err);
	if (!rc || o->require)
		return rc;
	plan->dir = do_without_files(err, !o->no_agent);
	plan->no_dir = true;
	return plan->dir ? 0 : short_memory(err);
}

/* Nothing is made: the directory's name is told. */
static int name_dir(struct run_plan *plan, const struct run_options *o, struct jprof_error *err)
{
	char dir[4096];
	unsigned uid = geteuid(), gid;
	if (plan->target.user && !uid)
		(void)dump_user(plan->target.user, &uid, &gid);
	dump_dir_name(o->dir, uid, dir, sizeof dir);
	plan->dir = shortage_note(strdup(dir));
	return plan->dir ? 0 : short_memory(err);
}

/* Where MALLOC_CONF has a prefix of the user's and the command line says nothing of it, it stands. */
static int choose_dir(struct run_plan *plan, const struct run_options *o, bool dry, struct jprof_error *err)
{
	const char *name = plan->allocator.conf_name, *conf = getenv(name ? name : "MALLOC_CONF");
	char prefix[4096];
	if (!o->dir && !o->label && conf && conf_get(conf, "prof_prefix", prefix, sizeof prefix))
		return 0;
	if (o->form == ENV_NONE)
		return dry ? name_dir(plan, o, err) : make_dir(plan, o, err);
	if (o->dir && *o->dir != '/')
		return fail_as(err, JPROF_E_ARGUMENT, "",
		               "--dir=%s: give the absolute path that it has where the program runs", o->dir);
	plan->dir = shortage_note(strdup(o->dir ? o->dir : "/tmp"));
	return plan->dir ? 0 : short_memory(err);
}

/* The directory of a prefix of the user's. */
static int check_prefix(const struct run_plan *plan, const struct run_options *o, struct jprof_error *err)
{
	char prefix[4096], line[JPROF_ERROR_LINE], *dir = NULL;
	if (plan->dir || !conf_get(plan->env.malloc_conf, "prof_prefix", prefix, sizeof prefix))
		return 0;
	char *slash = strrchr(prefix, '/');
	if (slash)
		slash[slash == prefix] = '\0';
	int rc = dump_dir(slash ? prefix : ".", plan->target.user, &dir, err);
	free(dir);
	if (!rc || o->require)
		return rc;
	say("%s", jprof_error_line(err, line, sizeof line));
	return 0;
}

/* ---- all of it ------------------------------------------------------------------------------------------------ */

/* The very values once more, in a program that does nothing: what jemalloc refuses is said. */
static int try_conf(const struct run_plan *plan, struct jprof_error *err)
{
	struct proof proof;
	char value[16] = "true", *rest;
	if (plan->allocator.proof.proved != PROVED_PROFILES)
		return 0;
	if (!prove(&proof, plan->allocator.path, &plan->target, plan->env.malloc_conf))
		return cannot_try(err);
	bool on = !proof_option(&proof, "prof", value, sizeof value) || !strcmp(value, "true");
	int rc = 0;
	if (proof.proved == PROVED_BROKEN)
		rc = fail_as(err, JPROF_E_UNSUPPORTED, "",
		             "with %s=%s a program that does nothing does not end well: %.*s", plan->env.conf_name,
		             plan->env.malloc_conf, (int)strcspn(proof.said, "\n"), proof.said);
	else if (!on)
		rc = fail_as(err, JPROF_E_UNSUPPORTED, "", "with %s=%s jemalloc does not profile: %.*s",
		             plan->env.conf_name, plan->env.malloc_conf, (int)strcspn(proof.said, "\n"), proof.said);
	for (char *line = rc ? NULL : strtok_r(proof.said, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		say("jemalloc says of %s: %s", plan->env.conf_name, line);
	proof_free(&proof);
	return rc;
}

static int plan_env(struct run_plan *plan, const struct run_options *o, char *const *argv, struct jprof_error *err)
{
	const struct program *t = &plan->target;
	bool other = *argv && !program_is_ruby(t) && !t->may_be;
	const char *target = other ? t->name : t->may_be ? t->script : NULL;
	char *label = run_label(o->label ? o->label : *argv ? *argv : "app");
	const struct run_wish wish = {
		.dir = plan->dir,
		.label = label,
		.sample = o->sample ? o->sample : sample_default,
		.sample_given = o->sample,
		.inactive = o->inactive,
		.alloc = o->alloc,
		.prefix_given = o->dir || o->label,
		.agent = plan->agent,
		.target = target && strlen(target) <= name_most && !strchr(target, ',') ? target : NULL,
		.at = o->at,
		.slots = o->slots,
	};
	int rc = label ? run_env_make(&plan->env, &wish, &plan->allocator, err) : short_memory(err);
	free(label);
	return rc;
}

int run_plan_make(struct run_plan *plan, const struct run_options *o, char *const *argv, bool dry,
                  struct jprof_error *err)
{
	*plan = (struct run_plan){ 0 };
	int rc = find_target(&plan->target, argv, err);
	rc = rc ? rc : choose_allocator(&plan->allocator, &plan->target, o, err);
	rc = rc || o->no_agent ? rc : find_agent(&plan->agent, &plan->target, &plan->allocator, err);
	rc = rc ? rc : choose_dir(plan, o, dry, err);
	rc = rc ? rc : plan_env(plan, o, argv, err);
	rc = rc ? rc : try_agent(plan, err);
	rc = rc || dry || o->form != ENV_NONE ? rc : check_prefix(plan, o, err);
	return rc ? rc : try_conf(plan, err);
}

void run_plan_free(struct run_plan *plan)
{
	program_free(&plan->target);
	allocator_free(&plan->allocator);
	run_env_free(&plan->env);
	free(plan->agent);
	free(plan->dir);
	*plan = (struct run_plan){ 0 };
}
