/* Why an agent that is loaded tells nothing of itself. */
#pragma once

#include <stddef.h>

#include "jprof-live.h"

/* What of a process's environment bears on it. */
struct silence_env {
	bool known;
	const char *agent; /* JPROF_AGENT; NULL: not set */
	const char *conf;  /* MALLOC_CONF; NULL: not set */
};

/* Whether JPROF_AGENT (NULL: not set) leaves out a program of that short name, with the reason in words, after "the
 * agent". */
bool silence_left_out(const char *agent, const char *name, bool ruby, char *text, size_t size);

/* The reason in words, after "jprof's agent is loaded, but ", and what to do; false where it is not known, and the
 * words say what it may be. */
bool silence_text(const struct jprof_process *process, const struct silence_env *env, char *text, size_t size);
