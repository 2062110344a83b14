/* Gathers what the checks look at: see struct scene. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/names.h"
#include "cli/procenv.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/trust.h"
#include "doctor/doctor.h"
#include "run/allocator.h"
#include "run/dumpdir.h"
#include "run/launcher.h"
#include "run/mallconf.h"
#include "run/plan.h"

enum { agent_ms = 5000 };

/* ---- files as the process sees them ------------------------------------------------------------ */

static int scene_shut(void)
{
	errno = EACCES;
	return -1;
}

static int own_file(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 || (!fstat(fd, &st) && S_ISREG(st.st_mode)))
		return fd;
	close(fd);
	errno = EINVAL;
	return -1;
}

int scene_open(const struct scene *s, const char *path)
{
	struct stat st;
	if (s->shut)
		return scene_shut();
	if (s->opener) {
		const struct jprof_opener *by = opener_functions(s->opener);
		return by->open(by->context, JPROF_OPEN_FILE, path, &st);
	}
	char below[4200];
	snprintf(below, sizeof below, "/proc/%d/root%s", s->process ? s->process->pid : 0, path);
	return own_file(s->process ? below : path);
}

int scene_look(const struct scene *s, const char *path, struct look *look)
{
	return s->shut ? scene_shut() : opener_look(s->opener, s->process ? s->process->pid : 0, path, false, look);
}

int scene_binary(const struct scene *s, const char *path, struct jprof_binary **binary, struct jprof_error *err)
{
	char root[64];
	if (s->shut) {
		*err = (struct jprof_error){ .code = JPROF_E_IO };
		snprintf(err->text, sizeof err->text, "may not be seen");
		return err->code;
	}
	snprintf(root, sizeof root, "/proc/%d/root", s->process ? s->process->pid : 0);
	return shortage_note_code(
	    jprof_binary_open_by(opener_functions(s->opener), s->process ? root : NULL, path, binary, err));
}

/* ---- environment ----------------------------------------------------------------------------------- */

/* Its own jemalloc, whose variable may be another. */
static void look_inside(struct scene *s, bool may_be)
{
	s->inside = may_be && s->target.binary && own_jemalloc(s->target.binary, &s->own);
	if (s->inside)
		s->conf_name = s->own.conf_name;
}

static char *scene_variable(const struct procenv *env, const char *name)
{
	const char *value = procenv_get(env, name);
	return value ? shortage_note(strdup(value)) : NULL;
}

static void read_environ(struct scene *s, int pid)
{
	struct procenv env;
	s->env_known = procenv_read(&env, pid);
	s->preload = scene_variable(&env, "LD_PRELOAD");
	s->conf = scene_variable(&env, s->conf_name);
	s->agent_words = scene_variable(&env, "JPROF_AGENT");
	const char *python = procenv_get(&env, "PYTHONMALLOC");
	s->python_malloc = python && !strncmp(python, "malloc", 6);
	procenv_free(&env);
}

static void read_conf_link(struct scene *s)
{
	struct look look;
	int pid = s->process ? s->process->pid : 0;
	if (!s->shut && !opener_look(s->opener, pid, "/etc/malloc.conf", true, &look) && *look.link)
		s->conf_link = shortage_note(strdup(look.link));
}

/* ---- jemalloc ----------------------------------------------------------------------------------------- */

/* To try a library is to run its code: never that of another's container, or one that others may write. */
static bool try_jemalloc(struct scene *s)
{
	char *path = s->jemalloc && !s->inside && !s->elsewhere && s->target.path ? trusted_path(s->jemalloc) : NULL;
	if (!path)
		return true;
	if (prove(&s->proof, path, &s->target, NULL)) {
		s->proved = prove(&s->tried, path, &s->target, s->conf ? s->conf : "");
		if (!s->proved)
			proof_free(&s->proof);
	}
	free(path);
	return s->proved;
}

/* Says what is wrong; without an error jemalloc was to be tried. */
static bool scene_failed(struct scene *s, const struct jprof_error *err)
{
	if (!shortage_say() && err)
		say_error(err);
	else if (!shortage_noted())
		say("jemalloc cannot be tried: no process can be started");
	scene_free(s);
	return false;
}

/* ---- a process ------------------------------------------------------------------------------------------ */

static void ask_scene_agent(struct scene *s)
{
	const struct jprof_agent_opts opts = { .size = sizeof opts,
		                               .timeout = agent_ms,
		                               .opener = opener_functions(s->opener) };
	const char *stats;
	if (!s->process->agent_version || !s->process->agent_socket || s->shut)
		return;
	if (shortage_note_code(jprof_agent_connect(s->process, &opts, &s->agent, &s->agent_error)))
		return;
	if (shortage_note_code(jprof_agent_report(s->agent, &s->report, &s->agent_error)))
		s->report = NULL;
	if (s->report && !shortage_note_code(jprof_agent_stats(s->agent, &stats, NULL)))
		s->stats = shortage_note(strdup(stats));
}

static bool sees_other_files(int pid)
{
	char path[64], theirs[64] = "", ours[64] = "";
	struct stat a, b;
	snprintf(path, sizeof path, "/proc/%d/ns/mnt", pid);
	if (readlink(path, theirs, sizeof theirs - 1) < 0 || readlink("/proc/self/ns/mnt", ours, sizeof ours - 1) < 0)
		return true;
	snprintf(path, sizeof path, "/proc/%d/root", pid);
	return strcmp(theirs, ours) || stat(path, &a) || stat("/", &b) || a.st_dev != b.st_dev || a.st_ino != b.st_ino;
}

static void open_program(struct scene *s)
{
	struct jprof_error err;
	if (scene_binary(s, s->process->program, &s->target.binary, &err))
		return;
	s->target.path = shortage_note(strdup(s->process->program));
	if (s->target.path)
		s->target.name = jp_basename(s->target.path);
	else
		program_free(&s->target);
}

/* Whose rights cannot be taken has its reason kept as that of a silent agent: it would be asked with these. */
static void hold_process(struct scene *s)
{
	enum { file_ms = 5000 };
	s->shut = shortage_note_code(jprof_target_open(s->process, NULL, &s->held, &s->agent_error)) ||
	          shortage_note_code(opener_start(&s->opener, s->held, s->process, file_ms, &s->agent_error));
}

bool scene_of_process(struct scene *s, const struct jprof_process *process)
{
	*s = (struct scene){ .process = process, .uid = process->uid, .conf_name = "MALLOC_CONF" };
	if (process->state != JPROF_PROCESS_ALIVE)
		return true;
	hold_process(s);
	s->elsewhere = sees_other_files(process->pid);
	if (process->program && *process->program)
		open_program(s);
	look_inside(s, !process->jemalloc);
	read_environ(s, process->pid);
	read_conf_link(s);
	const char *jemalloc = process->jemalloc ? process->jemalloc : s->inside ? process->program : NULL;
	s->jemalloc = jemalloc ? shortage_note(strdup(jemalloc)) : NULL;
	ask_scene_agent(s);
	if (!shortage_noted() && try_jemalloc(s))
		return true;
	return scene_failed(s, NULL);
}

/* ---- a command --------------------------------------------------------------------------------------- */

static char *join_words(char *const *argv)
{
	struct jp_strbuf text = { 0 };
	for (int i = 0; argv[i]; i++)
		jp_strbuf_printf(&text, "%s%s", i ? " " : "", argv[i]);
	return shortage_take(&text);
}

/* The jemalloc that the loader would take: LD_PRELOAD comes before what the program is linked with. */
static char *loaded_jemalloc(struct scene *s)
{
	const struct program *t = &s->target;
	if (t->secure || t->dropped_by || !*jprof_binary_info(t->binary)->interpreter)
		return NULL;
	char *path = preloaded_jemalloc(t, s->preload, &s->other);
	return path || s->other ? path : linked_library(t, "libjemalloc", NULL);
}

/* A variable as the command would have it: from our environment, or from an env on the way. */
static char *variable_for(const char *name, char *const *argv)
{
	size_t n = strlen(name);
	const char *value = getenv(name);
	for (struct launch launch; launcher_read(argv, &launch); argv += launch.inner) {
		bool env = !strcmp(jp_basename(argv[0]), "env");
		value = env && launch.drops ? NULL : value;
		for (int i = 1; env && argv[i] && (i < launch.inner || !launch.inner); i++)
			if (!strncmp(argv[i], name, n) && argv[i][n] == '=')
				value = argv[i] + n + 1;
		if (!launch.inner)
			break;
	}
	return value ? shortage_note(strdup(value)) : NULL;
}

/* Where `jprof run` stands among the launchers of a command line; NULL: nowhere. */
static char *const *find_run(char *const *argv)
{
	for (struct launch launch; argv && argv[0]; argv = launch.inner ? argv + launch.inner : NULL) {
		if (!strcmp(jp_basename(argv[0]), "jprof") && argv[1] && !strcmp(argv[1], "run"))
			return argv + 1;
		if (!launcher_read(argv, &launch))
			return NULL;
	}
	return NULL;
}

static char *copy_or_null(const char *text)
{
	return text && *text ? shortage_note(strdup(text)) : NULL;
}

/* What jprof run would set. The program is that which it starts. */
static void take_plan(struct scene *s, struct run_plan *plan)
{
	s->preload = copy_or_null(plan->env.ld_preload);
	s->conf = copy_or_null(plan->env.malloc_conf);
	s->agent_words = copy_or_null(plan->env.jprof_agent ? plan->env.jprof_agent : getenv("JPROF_AGENT"));
	s->made = copy_or_null(plan->dir);
}

/* The words of `jprof run` in a copy, for its parser moves them. True: *command is what it would start; the scene has
 * what it would set, or why it would not. */
static bool look_through_run(struct scene *s, char *const *run, char *const **command)
{
	struct run_options o;
	struct run_plan plan;
	struct jprof_error err;
	char line[JPROF_ERROR_LINE], **words;
	int argc = 0;
	while (run[argc])
		argc++;
	words = shortage_note(calloc((size_t)argc + 1, sizeof *words));
	if (!words)
		return false;
	memcpy(words, run, (size_t)argc * sizeof *words);
	bool good = run_options_parse(&o, argc, words) && !o.help && words[1];
	if (good) {
		*command = run;
		while (**command != words[1])
			++*command;
		if (run_plan_make(&plan, &o, *command, true, &err))
			s->without = shortage_note(strdup(jprof_error_line(&err, line, sizeof line)));
		else
			take_plan(s, &plan);
		run_plan_free(&plan);
	}
	free(words);
	return good;
}

static void read_variables(struct scene *s, char *const *argv)
{
	s->preload = variable_for("LD_PRELOAD", argv);
	s->conf = variable_for(s->conf_name, argv);
	s->agent_words = variable_for("JPROF_AGENT", argv);
}

bool scene_of_command(struct scene *s, char *const *argv)
{
	struct jprof_error err;
	char *const *run = find_run(argv), *const *command = argv;
	unsigned gid;
	*s = (struct scene){ .uid = geteuid(), .env_known = true, .conf_name = "MALLOC_CONF" };
	s->words = join_words(argv);
	if (run && !look_through_run(s, run, &command)) {
		shortage_say();
		scene_free(s);
		return false;
	}
	if (program_find(&s->target, command, &err))
		return scene_failed(s, &err);
	for (struct launch launch; launcher_read(command, &launch) && launch.inner;)
		command += launch.inner;
	s->inner = join_words(command);
	if (s->target.user && !s->uid)
		(void)dump_user(s->target.user, &s->uid, &gid);
	look_inside(s, true);
	if (!run || s->without)
		read_variables(s, argv);
	char *python = variable_for("PYTHONMALLOC", argv);
	s->python_malloc = python && !strncmp(python, "malloc", 6);
	free(python);
	read_conf_link(s);
	if (s->inside)
		s->jemalloc = shortage_note(strdup(s->target.path));
	else
		s->jemalloc = loaded_jemalloc(s);
	if (!shortage_noted() && try_jemalloc(s))
		return true;
	return scene_failed(s, NULL);
}

void scene_free(struct scene *s)
{
	program_free(&s->target);
	if (s->proved) {
		proof_free(&s->proof);
		proof_free(&s->tried);
	}
	jprof_agent_free(s->agent);
	jprof_target_free(s->held);
	opener_end(s->opener);
	free(s->words);
	free(s->inner);
	free(s->preload);
	free(s->conf);
	free(s->conf_link);
	free(s->agent_words);
	free(s->jemalloc);
	free(s->other);
	free(s->without);
	free(s->made);
	free(s->stats);
	*s = (struct scene){ 0 };
}

/* ---- options in force ---------------------------------------------------------------------------------- */

/* {"jemalloc": {"opt": {"NAME": ...}}} */
static bool from_stats(const char *stats, const char *name, char *value, size_t size)
{
	struct jprof_json *all = NULL;
	if (!stats || shortage_note_code(jprof_json_read(stats, strlen(stats), "stats", &all, NULL)))
		return false;
	const struct jprof_json *options = jprof_json_get(jprof_json_get(all, "jemalloc"), "opt");
	const char *text = jprof_json_string(jprof_json_get(options, name));
	if (text)
		snprintf(value, size, "%s", text);
	jprof_json_free(all);
	return text;
}

/* What the environment says; of /etc/malloc.conf and MALLOC_CONF the latter counts. */
static bool from_conf(const struct scene *s, const char *name, char *value, size_t size)
{
	if (!s->env_known)
		return false;
	return (s->conf && conf_get(s->conf, name, value, size)) ||
	       (s->conf_link && conf_get(s->conf_link, name, value, size));
}

/* These are switched off where MALLOC_CONF is tried. */
static bool is_disarmed(const char *name)
{
	return !strcmp(name, "prof_final") || !strcmp(name, "prof_gdump") || !strcmp(name, "prof_log") ||
	       !strcmp(name, "lg_prof_interval");
}

const char *scene_option(const struct scene *s, const char *name, char *value, size_t size)
{
	if (from_stats(s->stats, name, value, size))
		return "agent";
	if (s->proved && s->env_known && !is_disarmed(name) && proof_option(&s->tried, name, value, size))
		return "tried here";
	return from_conf(s, name, value, size) ? "MALLOC_CONF" : NULL;
}

int scene_profiles(const struct scene *s)
{
	char value[64];
	if (s->report)
		return 1;
	if (!s->jemalloc)
		return s->process && !s->process->readable ? -1 : 0;
	if (s->proved && (s->proof.proved == PROVED_NO_PROFILES || s->proof.proved == PROVED_NO_JEMALLOC))
		return 0;
	if (scene_option(s, "prof", value, sizeof value))
		return !strcmp(value, "true");
	return s->env_known && !s->inside ? 0 : -1;
}
