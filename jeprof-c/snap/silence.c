#include "snap/silence.h"

#include <stdio.h>
#include <string.h>

/* The word of a comma-separated list that begins with `key`; its length is in `len`. */
static const char *find_word(const char *list, const char *key, size_t *len)
{
	size_t n = strlen(key);
	for (const char *word = list; word && *word; word += *len + (word[*len] == ',')) {
		*len = strcspn(word, ",");
		if (*len >= n && !strncmp(word, key, n))
			return word;
	}
	return NULL;
}

/* Whether JPROF_AGENT leaves this process out. */
static bool is_left_out(const struct jprof_process *p, const char *words, char *text, size_t size)
{
	size_t len;
	const char *scope = find_word(words, "for=", &len);
	int name_len = scope ? (int)len - 4 : 0;
	if (find_word(words, "off", &len) && len == 3)
		snprintf(text, size, "is switched off: JPROF_AGENT=%s", words);
	else if (scope && name_len == 3 && !strncmp(scope + 4, "all", 3))
		return false;
	else if (!p->ruby && (!scope || (name_len == 4 && !strncmp(scope + 4, "ruby", 4))))
		snprintf(text, size, "serves Rubies alone, of which this is none: start it with JPROF_AGENT=for=all");
	else if (scope && strncmp(scope + 4, "ruby", 4) && strncmp(scope + 4, p->name, (size_t)name_len))
		snprintf(text, size, "is meant for programs called %.*s (JPROF_AGENT): start it with for=all or for=%s",
		         name_len, scope + 4, p->name);
	else
		return false;
	return true;
}

bool silence_text(const struct jprof_process *p, const struct silence_env *env, char *text, size_t size)
{
	size_t len;
	if (p->agent_trouble)
		snprintf(text, size, "%s", p->agent_trouble);
	else if (p->agent_version && env->known && find_word(env->agent, "socket=off", &len))
		snprintf(text, size, "has no socket: JPROF_AGENT=%s: start it without socket=off", env->agent);
	else if (p->agent_version) {
		snprintf(text, size, "has no socket, and the reason is not known; try `jprof doctor %d`", p->pid);
		return false;
	} else if (env->known && is_left_out(p, env->agent, text, size))
		return true;
	else if (!p->jemalloc)
		snprintf(text, size,
		         "no libjemalloc is: one that is linked into the program serves the agent only if it has "
		         "profiling, prof:true, and exports mallctl (link it with -Wl,--export-dynamic)");
	else if (env->known && (!env->conf || !strstr(env->conf, "prof:true")))
		snprintf(text, size, "MALLOC_CONF %s: start it with prof:true in it",
		         env->conf ? "has no prof:true" : "is not set");
	else {
		snprintf(text, size,
		         "tells nothing, and the reason is not known: jemalloc may be without profiling or refuse "
		         "MALLOC_CONF, or the agent may have been left no way to tell; try `jprof doctor %d`",
		         p->pid);
		return false;
	}
	return true;
}
