#include "run/runenv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "cli/shortage.h"
#include "run/mallconf.h"

enum { value_max = 4096 };

/* ---- MALLOC_CONF ------------------------------------------------------------------------------------ */

/* A pair of ours. */
struct own_pair {
	const char *key;
	const char *value; /* NULL: not wanted */
	bool given;        /* on the command line: counts more than what the environment has */
};

/* Of a key that comes twice the last counts. */
enum conf_place { NOWHERE, BEFORE, AFTER };

/* Where ours stands to the user's text. Where that has the key with another value, one of the two gives way,
 * which is said. */
static enum conf_place weigh_pair(const struct own_pair *own, const char *name, const char *user)
{
	char theirs[value_max];
	if (!conf_get(user, own->key, theirs, sizeof theirs))
		return BEFORE;
	if (strcmp(theirs, own->value) && own->given)
		say("%s has %s:%s; the command line's %s:%s counts", name, own->key, theirs, own->key, own->value);
	else if (strcmp(theirs, own->value))
		say("%s has %s:%s, which stays; jprof would have set %s", name, own->key, theirs, own->value);
	return own->given && strcmp(theirs, own->value) ? AFTER : NOWHERE;
}

static char *put_together(const struct own_pair *own, const enum conf_place *places, size_t count, const char *user)
{
	struct jp_strbuf text = { 0 };
	for (size_t i = 0; i < count; i++)
		if (places[i] == BEFORE)
			jp_strbuf_printf(&text, "%s:%s,", own[i].key, own[i].value);
	jp_strbuf_printf(&text, "%s%s", user, *user ? "," : "");
	for (size_t i = 0; i < count; i++)
		if (places[i] == AFTER)
			jp_strbuf_printf(&text, "%s:%s,", own[i].key, own[i].value);
	if (text.len)
		jp_strbuf_cut(&text, text.len - 1); /* a comma at the end is one that jemalloc complains of */
	return shortage_take(&text);
}

/* The user's text, in order, owned by the caller. */
static int users_conf(const char *name, char **conf, struct jprof_error *err)
{
	const char *set = getenv(name);
	char value[value_max];
	*conf = conf_tidy(set ? set : "");
	if (!*conf)
		return fail_as(err, JPROF_E_NOMEM, "", "memory is short");
	if (conf_has_blanks(set ? set : ""))
		say("%s has blanks or line ends around its pairs, as folded YAML leaves them, at which jemalloc "
		    "stops reading; taken out here: write it on one line where it is set",
		    name);
	if (conf_get(*conf, "prof_gdump", value, sizeof value) && !strcmp(value, "true"))
		say("%s has prof_gdump:true, by which jemalloc can lock up the process for ever; leave it out: jprof snap "
		    "asks for dumps",
		    name);
	if (!conf_get(*conf, "prof", value, sizeof value) || strcmp(value, "false"))
		return 0;
	free(*conf);
	return fail_as(err, JPROF_E_ARGUMENT, "", "%s has prof:false, with which nothing can be profiled: take it out",
	               name);
}

/* Whether jemalloc can take the names of threads from the system. 5.3.0 has the option, too, but frees a thread's name
 * at each sample, while a dump may be about to write it: jemalloc's commit 5fd55837. */
static bool can_name_threads(const struct proof *proof)
{
	static const unsigned long since[] = { 5, 3, 1 };
	const char *version = proof->version;
	for (size_t i = 0; i < sizeof since / sizeof *since; i++) {
		char *end;
		unsigned long part = strtoul(version, &end, 10);
		if (end == version || part != since[i])
			return end != version && part > since[i];
		version = end + (*end == '.');
	}
	return true;
}

static int make_conf(struct run_env *env, const struct run_wish *wish, const struct allocator *allocator,
                     struct jprof_error *err)
{
	char sample[24], prefix[value_max], *user;
	int rc = users_conf(env->conf_name, &user, err);
	if (rc)
		return rc;
	snprintf(sample, sizeof sample, "%zu", wish->sample);
	if (wish->dir)
		snprintf(prefix, sizeof prefix, "%s/%s", strcmp(wish->dir, "/") ? wish->dir : "", wish->label);
	const struct own_pair own[] = {
		{ "prof", "true", false },
		{ "prof_active", wish->inactive ? "false" : "true", wish->inactive },
		{ "lg_prof_sample", sample, wish->sample_given },
		{ "prof_accum", wish->alloc ? "true" : NULL, true },
		{ "prof_sys_thread_name", can_name_threads(&allocator->proof) ? "true" : NULL, false },
		{ "prof_prefix", wish->dir ? prefix : NULL, wish->prefix_given },
	};
	const size_t count = sizeof own / sizeof *own;
	enum conf_place places[sizeof own / sizeof *own];
	for (size_t i = 0; i < count; i++)
		places[i] = own[i].value ? weigh_pair(&own[i], env->conf_name, user) : NOWHERE;
	env->malloc_conf = put_together(own, places, count, user);
	free(user);
	return env->malloc_conf ? 0 : fail_as(err, JPROF_E_NOMEM, "", "memory is short");
}

/* ---- LD_PRELOAD, JPROF_AGENT ---------------------------------------------------------------------- */

static bool has_entry(const char *preload, const char *path)
{
	size_t len;
	const char *name;
	while (preload && (name = preload_next(&preload, &len)) && len)
		if (len == strlen(path) && !memcmp(name, path, len))
			return true;
	return false;
}

/* The loader takes colons and blanks as the ends of names, whatever they are quoted with. */
static int can_preload(const char *path, struct jprof_error *err)
{
	if (!path || !strpbrk(path, ": \t\n"))
		return 0;
	return fail_as(err, JPROF_E_ARGUMENT, path,
	               "cannot be named in LD_PRELOAD, for its path has a blank or colon; move it");
}

/* What the user preloads, without the one that gives way. NULL when memory is short. */
static char *users_preload(const char *without)
{
	const char *set = getenv("LD_PRELOAD"), *name;
	struct jp_strbuf text = { 0 };
	size_t len;
	if (!without)
		jp_strbuf_str(&text, set ? set + strspn(set, ": \t\n") : "");
	while (without && set && (name = preload_next(&set, &len)) && len)
		if (len != strlen(without) || memcmp(name, without, len))
			jp_strbuf_printf(&text, "%s%.*s", text.len ? ":" : "", (int)len, name);
	return shortage_take(&text);
}

static int make_preload(struct run_env *env, const struct run_wish *wish, const struct allocator *allocator,
                        struct jprof_error *err)
{
	const char *library = allocator->path, *agent = wish->agent;
	int rc = can_preload(agent, err);
	rc = rc ? rc : can_preload(library, err);
	if (rc)
		return rc;
	char *user = users_preload(allocator->gives_way);
	if (agent && user && has_entry(user, agent))
		agent = NULL;
	if (allocator->from == ALLOCATOR_LINKED || allocator->from == ALLOCATOR_PRELOADED ||
	    (user && has_entry(user, library)))
		library = NULL;
	if (!user || shortage_unprinted(asprintf(&env->ld_preload, "%s%s%s%s%s", agent ? agent : "",
	                                         agent && (library || *user) ? ":" : "", library ? library : "",
	                                         library && *user ? ":" : "", user))) {
		env->ld_preload = NULL;
		rc = fail_as(err, JPROF_E_NOMEM, "", "memory is short");
	}
	free(user);
	return rc;
}

/* A word "for=..." of the user's stays; jprof's own is for programs that are no Ruby, beside the Rubies that these may
 * start. */
static int make_agent(struct run_env *env, const struct run_wish *wish, struct jprof_error *err)
{
	const char *user = getenv("JPROF_AGENT"), *at = wish->at, *slots = wish->slots;
	const char *target = user && strstr(user, "for=") ? NULL : wish->target;
	if (!wish->agent || (!target && !at && !slots))
		return 0;
	if (!shortage_unprinted(asprintf(&env->jprof_agent, "%s%s%s%s%s%s%s", user ? user : "", at ? ",at=" : "",
	                                 at ? at : "", slots ? ",slots=" : "", slots ? slots : "",
	                                 target ? ",for=ruby,for=" : "", target ? target : ""))) {
		char *text = env->jprof_agent;
		memmove(text, text + (*text == ','), strlen(text + (*text == ',')) + 1);
		return 0;
	}
	env->jprof_agent = NULL;
	return fail_as(err, JPROF_E_NOMEM, "", "memory is short");
}

int run_env_make(struct run_env *env, const struct run_wish *wish, const struct allocator *allocator,
                 struct jprof_error *err)
{
	*env = (struct run_env){ .conf_name = allocator->conf_name ? allocator->conf_name : "MALLOC_CONF" };
	int rc = make_conf(env, wish, allocator, err);
	rc = rc ? rc : make_preload(env, wish, allocator, err);
	rc = rc ? rc : make_agent(env, wish, err);
	if (rc)
		run_env_free(env);
	return rc;
}

int run_env_set(const struct run_env *env)
{
	return (*env->ld_preload ? setenv("LD_PRELOAD", env->ld_preload, 1) : unsetenv("LD_PRELOAD")) ||
	               setenv(env->conf_name, env->malloc_conf, 1) ||
	               (env->jprof_agent && setenv("JPROF_AGENT", env->jprof_agent, 1))
	           ? -1
	           : 0;
}

void run_env_free(struct run_env *env)
{
	free(env->ld_preload);
	free(env->malloc_conf);
	free(env->jprof_agent);
	*env = (struct run_env){ 0 };
}

/* ---- written down ----------------------------------------------------------------------------------- */

/* The value with `before` in front of each character of `special`. */
static void put_escaped(const char *value, const char *special, const char *before)
{
	for (; *value; value++)
		printf("%s%c", strchr(special, *value) ? before : "", *value);
}

/* sh, and .env files: between single quotes all stands for itself. */
static void put_single(const char *value)
{
	putchar('\'');
	for (; *value; value++)
		if (*value == '\'')
			printf("'\\''");
		else
			putchar(*value);
	putchar('\'');
}

/* Kubernetes makes $$ of it what is $ in the end; YAML's double quotes know the backslash. */
static void put_yaml(const char *value)
{
	putchar('"');
	for (; *value; value++)
		if (*value == '$')
			printf("$$");
		else
			put_escaped((const char[]){ *value, '\0' }, "\"\\", "\\");
	putchar('"');
}

static void put_systemd(const char *value)
{
	for (; *value; value++)
		if (*value == '%')
			printf("%%%%");
		else
			put_escaped((const char[]){ *value, '\0' }, "\"\\", "\\");
}

static void put_variable(enum env_form form, const char *name, const char *value, bool first, bool last)
{
	switch (form) {
	case ENV_SHELL:
		printf("export %s=", name);
		put_single(value);
		break;
	case ENV_DOCKER:
		printf("%s%s=\"", first ? "ENV " : "    ", name);
		put_escaped(value, "\"\\$", "\\");
		printf(last ? "\"" : "\" \\");
		break;
	case ENV_HELM:
		printf("  - name: %s\n    value: ", name);
		put_yaml(value);
		break;
	case ENV_PROCFILE:
		printf("%s=", name);
		/* Quotes are not taken off by all that read such files: only where nothing else helps. */
		if (strpbrk(value, " \t'\"$\\#`"))
			put_single(value);
		else
			printf("%s", value);
		break;
	case ENV_SYSTEMD:
		printf("Environment=\"%s=", name);
		put_systemd(value);
		putchar('"');
		break;
	case ENV_NONE: return;
	}
	putchar('\n');
}

void run_env_print(const struct run_env *env, enum env_form form)
{
	const char *values[][2] = { { "LD_PRELOAD", *env->ld_preload ? env->ld_preload : NULL },
		                    { env->conf_name, env->malloc_conf },
		                    { "JPROF_AGENT", env->jprof_agent } };
	if (form == ENV_HELM)
		printf("env:\n");
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		if (values[i][1])
			put_variable(form, values[i][0], values[i][1], i == (values[0][1] ? 0 : 1),
			             i == (env->jprof_agent ? 2 : 1));
}
