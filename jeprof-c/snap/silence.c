#include "snap/silence.h"

#include <stdio.h>
#include <string.h>

/* The word of a comma-separated list that begins with `key`; its length is in `len`. */
static const char *find_clause(const char *list, const char *key, size_t *len)
{
	size_t n = strlen(key);
	for (const char *word = list; word && *word; word += *len + (word[*len] == ',')) {
		*len = strcspn(word, ",");
		if (*len >= n && !strncmp(word, key, n))
			return word;
	}
	return NULL;
}

/* What the words for=... say of a program; several add up. */
enum scope { SCOPE_NONE = 0, SCOPE_RUBY = 1, SCOPE_ALL = 2, SCOPE_NAMED = 4, SCOPE_OTHER = 8 };

static unsigned scope_of(const char *words, const char *name, const char **other, int *other_len)
{
	unsigned scope = SCOPE_NONE;
	size_t len;
	for (const char *word = words; (word = find_clause(word, "for=", &len)); word += len) {
		size_t n = len - 4;
		if (n == 4 && !strncmp(word + 4, "ruby", n)) {
			scope |= SCOPE_RUBY;
		} else if (n == 3 && !strncmp(word + 4, "all", n)) {
			scope |= SCOPE_ALL;
		} else {
			scope |= strlen(name) == n && !strncmp(word + 4, name, n) ? SCOPE_NAMED : SCOPE_OTHER;
			*other = word + 4;
			*other_len = (int)n;
		}
	}
	return scope ? scope : SCOPE_RUBY;
}

bool silence_left_out(const char *words, const char *name, bool ruby, char *text, size_t size)
{
	const char *other = "";
	size_t len;
	int other_len = 0;
	unsigned scope = scope_of(words, name, &other, &other_len);
	if (find_clause(words, "off", &len) && len == 3)
		snprintf(text, size, "is switched off: JPROF_AGENT=%s", words);
	else if (scope & (SCOPE_ALL | SCOPE_NAMED) || (scope & SCOPE_RUBY && ruby))
		return false;
	else if (scope & SCOPE_OTHER)
		snprintf(text, size, "is meant for programs called %.*s (JPROF_AGENT): start it with for=all or for=%s",
		         other_len, other, name);
	else
		snprintf(text, size, "serves Rubies alone, of which this is none: start it with JPROF_AGENT=for=all");
	return true;
}

bool silence_text(const struct jprof_process *p, const struct silence_env *env, char *text, size_t size)
{
	size_t len;
	if (p->agent_trouble)
		snprintf(text, size, "%s", p->agent_trouble);
	else if (p->agent_version && env->known && find_clause(env->agent, "socket=off", &len))
		snprintf(text, size, "has no socket: JPROF_AGENT=%s: start it without socket=off", env->agent);
	else if (p->agent_version) {
		snprintf(text, size, "has no socket, and the reason is not known; try `jprof doctor %d`", p->pid);
		return false;
	} else if (env->known && silence_left_out(env->agent, p->name, p->ruby, text, size))
		return true;
	else if (!p->jemalloc)
		snprintf(text, size,
		         "no libjemalloc is: one that is linked into the program serves the agent only if it has "
		         "profiling, prof:true, and exports mallctl (link it with -Wl,--export-dynamic)");
	else if (env->known && (!env->conf || !strstr(env->conf, "prof:true")))
		snprintf(text, size, "MALLOC_CONF %s: start it with prof:true in it",
		         env->conf ? "has no prof:true" : "is not set");
	else {
		snprintf(
		    text, size,
		    "tells nothing, and the reason is not known: the process may have begun a moment ago (then try "
		    "again), jemalloc may be without profiling or refuse MALLOC_CONF, or the agent may have been "
		    "left no way to tell; try `jprof doctor %d`",
		    p->pid);
		return false;
	}
	return true;
}
