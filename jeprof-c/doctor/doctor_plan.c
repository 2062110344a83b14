/* What a command would do: whether the agent would serve it, what USR2 would do to it, what a profile would not show.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/names.h"
#include "doctor/doctor.h"
#include "snap/silence.h"

/* ---- jprof run as the command ------------------------------------------------------------------------------- */

void check_run(const struct scene *s, struct findings *f)
{
	if (s->without)
		findings_add(f, "run", VERDICT_BAD, "see the line; jprof run --require starts nothing then",
		             "jprof run would start it without profiling: %s", s->without);
}

/* ---- the agent ------------------------------------------------------------------------------------------------ */

/* Why nothing of LD_PRELOAD gets into the program; NULL: something may. */
static const char *why_no_preload(const struct program *t)
{
	if (t->dropped_by)
		return "LD_PRELOAD does not get through the launcher";
	if (t->secure)
		return "the loader ignores LD_PRELOAD for a program with more rights than its caller";
	if (!*jprof_binary_info(t->binary)->interpreter && !t->may_be)
		return "nothing can be preloaded into a static program";
	return NULL;
}

/* Whether the loader would take the agent's file. */
static bool can_load_agent(const struct scene *s)
{
	const char *text = s->preload, *entry;
	size_t len;
	bool good = false;
	while (!good && text && (entry = preload_next(&text, &len)) && len) {
		struct jprof_binary *b = NULL;
		struct jprof_error err;
		char *path = memmem(entry, len, "libjprof-agent", strlen("libjprof-agent"))
		                 ? preload_path(&s->target, entry, len)
		                 : NULL;
		good = path && !scene_binary(s, path, &b, &err) &&
		       program_fits(jprof_binary_info(s->target.binary), jprof_binary_info(b));
		jprof_binary_free(b);
		free(path);
	}
	return good;
}

enum serving command_serves(const struct scene *s, char *why, size_t size)
{
	const struct program *t = &s->target;
	const char *shut = why_no_preload(t);
	int profiles = scene_profiles(s);
	if (shut)
		snprintf(why, size, "%s", shut);
	else if (t->may_be) {
		snprintf(why, size, "that depends on what %s starts", t->name);
		return SERVING_UNKNOWN;
	} else if (!can_load_agent(s))
		snprintf(why, size, "the loader would not take its file: see the row preload");
	else if (silence_left_out(s->agent_words, t->name, program_is_ruby(t), why, size))
		return SERVES_NOT;
	else if (!s->jemalloc)
		snprintf(why, size, "there is no jemalloc that it could ask");
	else if (s->inside && !s->own.exported)
		snprintf(why, size, "it cannot see the program's %s", s->own.mallctl);
	else if (s->proved && s->proof.proved == PROVED_NO_JEMALLOC)
		snprintf(why, size, "%s is no jemalloc", s->jemalloc);
	else if (!profiles) {
		snprintf(why, size, "jemalloc does not profile");
		return SERVES_REFUSAL;
	} else if (profiles < 0) {
		snprintf(why, size, "whether jemalloc profiles is not known");
		return SERVING_UNKNOWN;
	} else
		return SERVES;
	return SERVES_NOT;
}

void check_agent_of_command(const struct scene *s, struct findings *f)
{
	char why[doctor_text_most];
	if (!preloads_agent(s)) {
		findings_add(f, "agent", VERDICT_WARN, "start it by: jprof run -- COMMAND",
		             "none: jprof snap cannot ask for a dump");
		return;
	}
	switch (command_serves(s, why, sizeof why)) {
	case SERVES:
		findings_add(f, "agent", VERDICT_OK, NULL, "would be loaded%s%s",
		             s->agent_words ? ", JPROF_AGENT=" : "", s->agent_words ? s->agent_words : "");
		break;
	case SERVES_NOT:
	case SERVES_REFUSAL:
		findings_add(f, "agent", VERDICT_BAD, "see the rows above; jprof run -- COMMAND sets all that it needs",
		             "would do nothing: %s", why);
		break;
	case SERVING_UNKNOWN:
		findings_add(f, "agent", VERDICT_UNKNOWN, NULL, "whether it would be active is not known: %s", why);
		break;
	}
}

/* ---- USR2 ------------------------------------------------------------------------------------------------------ */

const char signal_fix[] = "never send it; jprof snap asks through the agent's socket";

const char *usr2_of(const char *server, const char *role)
{
	if (!strcmp(server, "puma"))
		return !strcmp(role, "worker") ? "does nothing to a Puma worker: no dump, no restart"
		                               : "hot-restarts a Puma: the whole server begins anew under the same pid";
	if (!strcmp(server, "unicorn"))
		return !strcmp(role, "worker") ? "does nothing useful to a Unicorn worker"
		                               : "makes a Unicorn start a second master beside itself";
	if (!strcmp(server, "sidekiq"))
		return "kills a Sidekiq: only Sidekiq Pro has a handler for it";
	if (!strcmp(server, "resque"))
		return "pauses a Resque worker: it takes no more jobs";
	return NULL;
}

/* The server that a command line starts, by the words in it. */
static const char *server_of(const char *words)
{
	static const char *const names[][2] = { { "unicorn", "unicorn" },
		                                { "sidekiq", "sidekiq" },
		                                { "resque", "resque" },
		                                { "puma", "puma" },
		                                { "rails s", "puma" } };
	for (size_t i = 0; words && i < sizeof names / sizeof *names; i++)
		if (strstr(words, names[i][0]))
			return names[i][1];
	return "";
}

/* The signal that the agent takes, by the last word signal=... of JPROF_AGENT; 0: none. */
static int agents_signal(const char *words)
{
	const char *last = NULL;
	char value[16];
	for (const char *at = words; at && (at = strstr(at, "signal=")); at += strlen("signal="))
		if (at == words || at[-1] == ',')
			last = at + strlen("signal=");
	if (!last)
		return SIGUSR2;
	snprintf(value, sizeof value, "%.*s", (int)strcspn(last, ","), last);
	return !strcmp(value, "none") ? 0 : !strcmp(value, "usr2") ? SIGUSR2 : atoi(value);
}

void check_signal_of_command(const struct scene *s, struct findings *f)
{
	char why[doctor_text_most];
	const char *what = usr2_of(server_of(s->inner), "master");
	enum serving serving = preloads_agent(s) ? command_serves(s, why, sizeof why) : SERVES_NOT;
	bool takes = agents_signal(s->agent_words) == SIGUSR2;
	if (what)
		findings_add(f, "signal", VERDICT_WARN, signal_fix, "USR2 %s%s", what,
		             serving == SERVES && takes ? "; its own handler comes after the agent's, and wins" : "");
	else if (s->target.may_be)
		findings_add(f, "signal", VERDICT_UNKNOWN, signal_fix,
		             "what USR2 does is not known: that depends on what %s starts", s->target.name);
	else if (serving == SERVES && takes && !can_write_dumps(s))
		findings_add(
		    f, "signal", VERDICT_WARN, "see the row directory; jprof snap gets dumps in memory",
		    "USR2 would make no dump, for it could not be written; the program goes on, unless it sets a "
		    "handler of its own");
	else if (serving == SERVES && takes)
		findings_add(f, "signal", VERDICT_OK, NULL,
		             "USR2 would make a dump, unless the program sets a handler of its own");
	else if (serving == SERVES_REFUSAL && takes)
		findings_add(
		    f, "signal", VERDICT_WARN, NULL,
		    "USR2 makes no dump: the agent says on standard error that profiling is off, and the program goes "
		    "on");
	else if (serving == SERVING_UNKNOWN && takes)
		findings_add(
		    f, "signal", VERDICT_UNKNOWN, signal_fix,
		    "what USR2 does is not known: %s; where the agent is not active it ends a program without a "
		    "handler of its own",
		    why);
	else
		findings_add(f, "signal", VERDICT_WARN, signal_fix,
		             "USR2 ends a program without a handler of its own, plain Ruby among them");
}

/* ---- what a profile does not show ------------------------------------------------------------------------------ */

/* Memory that runtimes take by themselves, past malloc. */
static const struct runtime {
	const char *name; /* of programs, as they begin */
	const char *unseen;
	const char *fix; /* or NULL */
} runtimes[] = {
	{ "python", "Python's objects of up to 512 bytes lie in arenas of its own",
	  "to see them start it with PYTHONMALLOC=malloc" },
	{ "ruby", "Ruby's GC heap: objects, and short strings inside them", NULL },
	{ "node", "V8's heap: JavaScript's objects", NULL },
	{ "java", "the JVM's heap", NULL },
	{ "postgres", "shared memory: shared_buffers", NULL },
	{ "php", "PHP's memory manager takes blocks of 2 MB for all of its values",
	  "to see them start it with USE_ZEND_ALLOC=0" },
	{ "beam", "Erlang's carriers, which its own allocators take", NULL },
	{ "dotnet", ".NET's GC heap", NULL },
};

void check_unseen(const struct scene *s, struct findings *f)
{
	const char *path = s->process ? s->process->program : s->target.path;
	const char *name = path ? jp_basename(path) : "";
	for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++) {
		const struct runtime *r = &runtimes[i];
		if (strncmp(name, r->name, strlen(r->name)) || (!strcmp(r->name, "python") && s->python_malloc))
			continue;
		findings_add(f, "unseen", r->fix ? VERDICT_WARN : VERDICT_OK, r->fix,
		             "a profile of malloc does not show: %s", r->unseen);
		return;
	}
}
