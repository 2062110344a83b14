#include "run/prove.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/textparts.h"
#include "cli/shortage.h"
#include "cli/trust.h"
#include "run/child.h"
#include "run/mallconf.h"

enum { prove_seconds = 20 };

/* A pair that every jemalloc refuses with a line that names it; those that make it tell its options. */
static const char unknown_pair_name[] = "jprof_asks:1", unknown_pair[] = "jprof_asks:1,",
		  own_pairs[] = "stats_print:true,stats_print_opts:mdablxeh";

/* A program that may be run, with what keeps it from doing anything. */
struct host {
	char path[4096];
	const char *argument;
};

static bool host_fits(const char *path, const struct program *like)
{
	struct program t;
	struct jprof_error err;
	if (program_open(&t, path, &err))
		return false;
	const struct jprof_binary_info *a = jprof_binary_info(like->binary), *b = jprof_binary_info(t.binary);
	bool fits = *b->interpreter && !t.secure && program_fits(a, b) && !strcmp(a->libc, b->libc);
	program_free(&t);
	return fits;
}

/* Interpreters that with --version say it and end. */
static bool is_interpreter(const struct program *t)
{
	static const char *const names[] = { "ruby", "python", "perl", "node" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(t->name, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool find_host(struct host *host, const struct program *like)
{
	static const char *const nothings[] = { "/bin/true", "/usr/bin/true" };
	for (size_t i = 0; i < sizeof nothings / sizeof *nothings; i++)
		if (host_fits(nothings[i], like)) {
			snprintf(host->path, sizeof host->path, "%s", nothings[i]);
			host->argument = NULL;
			return true;
		}
	host->argument = "--version";
	ssize_t n = readlink("/proc/self/exe", host->path, sizeof host->path - 1);
	if (n > 0) {
		host->path[n] = '\0';
		if (host_fits(host->path, like))
			return true;
	}
	char *trusted = is_interpreter(like) ? trusted_path(like->path) : NULL;
	snprintf(host->path, sizeof host->path, "%s", trusted ? like->path : "");
	free(trusted);
	return *host->path;
}

/* The value of a line "KEY: VALUE" or "KEY: VALUE (more)". */
static bool proof_line(const struct proof *proof, const char *key, char *value, size_t size)
{
	size_t n = strlen(key);
	for (const char *line = proof->options; line && *line;
	     line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL) {
		if (strncmp(line, key, n) || strncmp(line + n, ": ", 2))
			continue;
		const char *text = line + n + 2;
		bool quoted = *text == '"';
		snprintf(value, size, "%.*s", (int)strcspn(text + quoted, quoted ? "\"\n" : " \n"), text + quoted);
		return true;
	}
	return false;
}

static void take_version(struct proof *proof, const char *text)
{
	text += *text == '"';
	snprintf(proof->version, sizeof proof->version, "%.*s", (int)strcspn(text, "\"- "), text);
}

/* What jemalloc wrote, taken apart. */
struct sorting {
	struct proof *proof;
	struct jp_strbuf said, options;
	bool inside; /* the statistics, which have a line at their begin and end */
	const char *last;
};

static void sort_statistic(struct sorting *s, const char *line)
{
	line += strspn(line, " ");
	if (jp_begins(line, "Version: "))
		take_version(s->proof, line + strlen("Version: "));
	else if (jp_begins(line, "opt.") || jp_begins(line, "config.prof:"))
		jp_strbuf_printf(&s->options, "%s\n", line);
	else if (jp_begins(line, "--- End jemalloc statistics"))
		s->inside = false;
}

/* What answers our own pairs is no complaint; nor is one that comes twice: jemalloc reads its options in two goes. */
static void sort_line(struct sorting *s, const char *line)
{
	if (s->inside) {
		sort_statistic(s, line);
	} else if (jp_begins(line, "___ Begin jemalloc statistics")) {
		s->inside = true;
	} else if (*line && !strstr(line, unknown_pair_name) && !strstr(line, "stats_print_opts:mdablxeh") &&
	           !(s->last && !strcmp(s->last, line))) {
		jp_strbuf_printf(&s->said, "%s\n", line);
		s->last = line;
	}
}

static bool sort_output(struct proof *proof, char *output)
{
	struct sorting s = { .proof = proof };
	char *rest;
	for (char *line = strtok_r(output, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		sort_line(&s, line);
	proof->said = shortage_take(&s.said);
	proof->options = shortage_take(&s.options);
	return proof->said && proof->options;
}

/* The loader goes on where it cannot load what LD_PRELOAD names, or ends the program with a word. */
static bool is_broken(const struct proof *proof, int status)
{
	return status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) ||
	       strstr(proof->said, "cannot be preloaded") || strstr(proof->said, "Error loading shared library");
}

static enum proved judge(const struct proof *proof, bool answered, int status)
{
	char value[16];
	if (is_broken(proof, status))
		return PROVED_BROKEN;
	if (!answered && !*proof->options)
		return PROVED_NO_JEMALLOC;
	if (proof_line(proof, "config.prof", value, sizeof value))
		return !strcmp(value, "true") ? PROVED_PROFILES : PROVED_NO_PROFILES;
	return strstr(proof->said, "Invalid conf pair: prof:true") ? PROVED_NO_PROFILES : PROVED_PROFILES;
}

/* LD_PRELOAD and MALLOC_CONF of the try, and nothing else of ours. */
static bool make_env(char **env, const char *so, const char *conf)
{
	char *harmless = conf ? conf_harmless(conf) : shortage_note(strdup("prof:true"));
	env[0] = env[1] = env[2] = NULL;
	if (!harmless || shortage_unprinted(asprintf(&env[0], "LD_PRELOAD=%s", so))) {
		free(harmless);
		return false;
	}
	/* A pair that no jemalloc knows is answered by a line; but abort_conf of a user's would abort at it. */
	bool good = !shortage_unprinted(asprintf(&env[1], "MALLOC_CONF=%s%s%s%s", conf ? "" : unknown_pair, own_pairs,
	                                         *harmless ? "," : "", harmless));
	free(harmless);
	if (!good)
		free(env[0]);
	return good;
}

static bool try(struct proof *proof, const struct host *host, char *const *env)
{
	char *argv[] = { (char *)host->path, (char *)host->argument, NULL }, *output;
	int status;
	if (!child_run(argv, env, STDERR_FILENO, prove_seconds, &output, &status))
		return false;
	bool answered = strstr(output, unknown_pair_name) != NULL, good = sort_output(proof, output);
	if (good)
		proof->proved = judge(proof, answered, status);
	free(output);
	return good;
}

bool prove(struct proof *proof, const char *so, const struct program *like, const char *conf)
{
	struct host host;
	char *env[3];
	*proof = (struct proof){ .proved = PROVED_NOTHING };
	if (!find_host(&host, like)) {
		proof->said = shortage_note(strdup(""));
		proof->options = shortage_note(strdup(""));
		return proof->said && proof->options;
	}
	if (!make_env(env, so, conf))
		return false;
	bool good = try(proof, &host, env);
	if (!good)
		proof_free(proof);
	free(env[0]);
	free(env[1]);
	return good;
}

bool proof_option(const struct proof *proof, const char *name, char *value, size_t size)
{
	char key[96];
	snprintf(key, sizeof key, "opt.%s", name);
	return proof_line(proof, key, value, size);
}

void proof_free(struct proof *proof)
{
	free(proof->said);
	free(proof->options);
	proof->said = proof->options = NULL;
}
