/* Makes dumps and their side-cars. */
#pragma once

#include <limits.h>
#include <stdbool.h>

#include "dump_result.h"

/* What this process's agent did so far. */
struct dump_history {
	unsigned made;
	char last_dump[PATH_MAX];
	char last_error[PATH_MAX + 256]; /* since the last dump that came about; "": none */
};

/* Which permissions the files get, whatever the umask; until then they are their owner's alone. */
void dump_init(unsigned mode);

/* Where nobody says how long, a Ruby VM has so many milliseconds to come by and be asked. */
enum { DUMP_RUBY_MS = 100 };

/* Makes one. On failure returns false with result->error, and nothing is left in the directory. The result is
 * the module's, and stays until the next call. One at a time. */
bool dump_make(const struct dump_request *request, const struct dump_result **result);

/* Closes what was to be handed over. */
void dump_close(void);

/* Is jemalloc writing a dump at this moment? To be asked on any thread. */
bool dump_is_written(void);

/* Can descriptors be handed over here? */
bool dump_hands_over(void);

const struct dump_history *dump_history(void);
void dump_failed(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* In a forked child: the parent's dumps are not its own. */
void dump_forked(void);
