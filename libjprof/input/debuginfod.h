/* Debug files from debuginfod servers: debuginfod_lib.c through libdebuginfod, or debuginfod_none.c.
 * This is the only code that uses the network, and it is only called with jprof_symbolize_opts.debuginfod. */
#pragma once

struct jp_debuginfod;

/* A client of the servers in $DEBUGINFOD_URLS; NULL when memory is short. */
struct jp_debuginfod *jp_debuginfod_new(void);

/* Path in the client's cache, to be freed by the caller, of the debug file with this build-id (lower-case
 * hex); NULL if there is none. After the first failure that is not a plain "not there" nothing is asked
 * any more: a dead server costs one time-out in all, of $DEBUGINFOD_TIMEOUT seconds (30 if not set) and two
 * more. Where $DEBUGINFOD_RETRY_LIMIT is not 0 or no connection is made, libdebuginfod (seen with 0.188) then
 * remembers for ten minutes that the file is not there. */
char *jp_debuginfod_find(struct jp_debuginfod *client, const char *build_id);

/* What failed, in words, or NULL. Lives as long as the client. */
const char *jp_debuginfod_trouble(const struct jp_debuginfod *client);

void jp_debuginfod_free(struct jp_debuginfod *client);
