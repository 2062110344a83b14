/* One dump and its side-car. */
#ifndef AGENT_DUMP_H
#define AGENT_DUMP_H

#include <limits.h>
#include <stdbool.h>

#include "ruby.h"

struct dump_request {
	const char *reason;
	const char *label; /* or NULL */
	bool gc;
	unsigned timeout; /* ms that Ruby is waited for, 0: not asked at all */
};

struct dump_result {
	char dump[PATH_MAX];
	char sidecar[PATH_MAX + 8];
	unsigned seq;
	unsigned milliseconds; /* that prof.dump took */
	struct ruby_answer ruby;
	char error[PATH_MAX + 256];
};

/* What this process's agent did so far. */
struct dump_history {
	unsigned made;
	char last_dump[PATH_MAX];
	char last_error[PATH_MAX + 256];
};

/* Makes one. On failure returns false with result->error, and nothing is left in the directory. The result is
 * the module's, and stays until the next call. One at a time. */
bool dump_make(const struct dump_request *request, const struct dump_result **result);

const struct dump_history *dump_history(void);
void dump_failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* In a forked child: the parent's dumps are not its own. */
void dump_forked(void);

#endif
