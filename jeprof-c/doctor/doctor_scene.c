/* Gathers what the checks look at: see struct scene. */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/names.h"
#include "cli/procenv.h"
#include "cli/say.h"
#include "doctor/doctor.h"
#include "run/allocator.h"
#include "run/mallconf.h"
#include "run/trust.h"

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
	return jprof_binary_open_by(opener_functions(s->opener), s->process ? root : NULL, path, binary, err);
}

/* ---- environment ----------------------------------------------------------------------------------- */

static char *keep_words(struct scene *s, char *copy)
{
	s->failed = s->failed || !copy;
	return copy;
}

static char *scene_variable(struct scene *s, const struct procenv *env, const char *name)
{
	const char *value = procenv_get(env, name);
	return value ? keep_words(s, strdup(value)) : NULL;
}

static void read_environ(struct scene *s, int pid)
{
	struct procenv env;
	s->env_known = procenv_read(&env, pid);
	s->preload = scene_variable(s, &env, "LD_PRELOAD");
	s->conf = scene_variable(s, &env, "MALLOC_CONF");
	s->agent_words = scene_variable(s, &env, "JPROF_AGENT");
	procenv_free(&env);
}

static void read_conf_link(struct scene *s)
{
	struct look look;
	int pid = s->process ? s->process->pid : 0;
	if (!s->shut && !opener_look(s->opener, pid, "/etc/malloc.conf", true, &look) && *look.link)
		s->conf_link = keep_words(s, strdup(look.link));
}

/* ---- jemalloc ----------------------------------------------------------------------------------------- */

/* A jemalloc that was linked into the program. */
static bool holds_jemalloc(const struct program *t)
{
	return t->binary && jprof_binary_defines(t->binary, "mallctl") && jprof_binary_defines(t->binary, "malloc");
}

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

/* ---- a process ------------------------------------------------------------------------------------------ */

static void ask_scene_agent(struct scene *s)
{
	const struct jprof_agent_opts opts = { .size = sizeof opts,
		                               .timeout = agent_ms,
		                               .opener = opener_functions(s->opener) };
	const char *stats;
	if (!s->process->agent_version || !s->process->agent_socket || s->shut)
		return;
	if (jprof_agent_connect(s->process, &opts, &s->agent, &s->agent_error))
		return;
	if (jprof_agent_report(s->agent, &s->report, &s->agent_error))
		s->report = NULL;
	if (s->report && !jprof_agent_stats(s->agent, &stats, NULL))
		s->stats = keep_words(s, strdup(stats));
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
	s->target.path = strdup(s->process->program);
	if (s->target.path)
		s->target.name = base_name(s->target.path);
	else
		program_free(&s->target);
}

/* Whose rights cannot be taken has its reason kept as that of a silent agent: it would be asked with these. */
static void hold_process(struct scene *s)
{
	enum { file_ms = 5000 };
	s->shut = jprof_target_open(s->process, NULL, &s->held, &s->agent_error) ||
	          opener_start(&s->opener, s->held, s->process, file_ms, &s->agent_error);
}

bool scene_of_process(struct scene *s, const struct jprof_process *process)
{
	*s = (struct scene){ .process = process, .uid = process->uid };
	if (process->state != JPROF_PROCESS_ALIVE)
		return true;
	hold_process(s);
	s->elsewhere = sees_other_files(process->pid);
	read_environ(s, process->pid);
	read_conf_link(s);
	if (process->program && *process->program)
		open_program(s);
	s->inside = !process->jemalloc && holds_jemalloc(&s->target);
	const char *jemalloc = process->jemalloc ? process->jemalloc : s->inside ? process->program : NULL;
	s->jemalloc = jemalloc ? keep_words(s, strdup(jemalloc)) : NULL;
	ask_scene_agent(s);
	if (!s->failed && try_jemalloc(s))
		return true;
	say("jemalloc cannot be tried: memory is short, or no process can be started");
	scene_free(s);
	return false;
}

/* ---- a command --------------------------------------------------------------------------------------- */

static char *join_words(char *const *argv)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	for (int i = 0; out && argv[i]; i++)
		fprintf(out, "%s%s", i ? " " : "", argv[i]);
	if (out && fclose(out)) {
		free(text);
		text = NULL;
	}
	return text;
}

/* The jemalloc that the loader would take: LD_PRELOAD comes before what the program is linked with. */
static char *loaded_jemalloc(const struct scene *s)
{
	char *path = preloaded_jemalloc(&s->target, s->preload);
	return path ? path : linked_library(&s->target, "libjemalloc", NULL);
}

/* The variable as the command would have it: from our environment, or from "env NAME=VALUE COMMAND". */
static char *variable_for(struct scene *s, const char *name, char *const *argv)
{
	size_t n = strlen(name);
	const char *value = getenv(name);
	bool env = !strcmp(base_name(argv[0]), "env");
	for (int i = 1; env && argv[i] && (*argv[i] == '-' || strchr(argv[i], '=')); i++)
		if (!strncmp(argv[i], name, n) && argv[i][n] == '=')
			value = argv[i] + n + 1;
	return value ? keep_words(s, strdup(value)) : NULL;
}

bool scene_of_command(struct scene *s, char *const *argv)
{
	struct jprof_error err;
	*s = (struct scene){ .uid = geteuid(), .env_known = true };
	if (program_find(&s->target, argv, &err)) {
		say_error(&err);
		return false;
	}
	s->words = keep_words(s, join_words(argv));
	s->preload = variable_for(s, "LD_PRELOAD", argv);
	s->conf = variable_for(s, "MALLOC_CONF", argv);
	s->agent_words = variable_for(s, "JPROF_AGENT", argv);
	read_conf_link(s);
	s->jemalloc = loaded_jemalloc(s);
	s->inside = !s->jemalloc && holds_jemalloc(&s->target);
	if (s->inside)
		s->jemalloc = keep_words(s, strdup(s->target.path));
	if (!s->failed && try_jemalloc(s))
		return true;
	say("jemalloc cannot be tried: memory is short, or no process can be started");
	scene_free(s);
	return false;
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
	free(s->preload);
	free(s->conf);
	free(s->conf_link);
	free(s->agent_words);
	free(s->jemalloc);
	free(s->stats);
	*s = (struct scene){ 0 };
}

/* ---- options in force ---------------------------------------------------------------------------------- */

/* {"jemalloc": {"opt": {"NAME": ...}}} */
static bool from_stats(const char *stats, const char *name, char *value, size_t size)
{
	struct json_object *all = stats ? json_tokener_parse(stats) : NULL, *at = all;
	bool found = json_object_object_get_ex(at, "jemalloc", &at) && json_object_object_get_ex(at, "opt", &at) &&
	             json_object_object_get_ex(at, name, &at);
	if (found)
		snprintf(value, size, "%s", json_object_get_string(at));
	json_object_put(all);
	return found;
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
