/* The jemalloc of this process, by weak references: any libjemalloc that is loaded, Rust's _rjem_ as well. */
#ifndef AGENT_JEMALLOC_H
#define AGENT_JEMALLOC_H

#include <stdbool.h>
#include <stddef.h>

struct textbuf;

bool jemalloc_present(void);

/* mallctl's values: false where there is none of that name. */
bool jemalloc_bool(const char *name);
size_t jemalloc_size(const char *name);
/* NULL where there is none. The string is jemalloc's, and stays. */
const char *jemalloc_string(const char *name);

/* Bytes that jemalloc took for itself, the stacks that it keeps among them; all its bookkeeping where it does not tell
 * the two apart. */
size_t jemalloc_internal(void);

/* Sets prof.active. Returns 0 or an errno. */
int jemalloc_activate(bool active, bool *was);

/* Writes a dump over the file. Returns 0 or an errno, whose reason jemalloc keeps to itself. */
int jemalloc_dump(const char *path);

/* Adds what malloc_stats_print writes with "J", on one line; null where that is no whole object. */
void jemalloc_stats(struct textbuf *text);

/* Has `hook` called within each allocation, on its thread; slows allocations and frees down. Only in versions whose
 * hooks are known: 5.2 and 5.3.0. Returns a handle, NULL where there is no such thing. A call may still come after the
 * removal. Under handle_lock(). */
void *jemalloc_hook(void (*hook)(void));
void jemalloc_unhook(void *handle);

/* Has `hook` called within each sampled allocation, on its thread; NULL ends it. Not before jemalloc 5.3. */
void jemalloc_hook_sampled(void (*hook)(void));

#endif
