/* The jemalloc of this process, by weak references: any libjemalloc that is loaded, Rust's _rjem_ as well. */
#pragma once

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

/* Is it that dump which is written there? */
bool jemalloc_dumps_here(const char *path);

/* Adds what malloc_stats_print writes with "J", on one line; null where that is no whole object. */
void jemalloc_stats(struct textbuf *text);

/* Has `hook` called within each allocation, on its thread; slows allocations and frees down. Only in versions whose
 * hooks are known: 5.2 and 5.3.0. Returns a handle, NULL where there is no such thing. A call may still come after the
 * removal. Under handle_lock(). */
void *jemalloc_hook(void (*hook)(void));
void jemalloc_unhook(void *handle);

/* What takes the stack of a sampled allocation down: `max` return addresses at most, innermost first. */
typedef void backtrace_fn(void **frames, unsigned *len, unsigned max);

/* That of this moment, jemalloc's own or another's; NULL before jemalloc 5.3. */
backtrace_fn *jemalloc_backtrace(void);
bool jemalloc_set_backtrace(backtrace_fn *hook);

/* Is it jemalloc's own, and does that use the unwinder of the C compiler? In the constructor: it takes the loader's
 * lock. */
bool jemalloc_unwinds_alike(backtrace_fn *hook);

/* Has `hook` called after each dump, with its path, on the thread that made it, under a lock of jemalloc's. Returns who
 * was called before, or NULL. False where there is no such hook: before jemalloc 5.3. */
typedef void dump_fn(const char *path);
bool jemalloc_hook_dumps(dump_fn *hook, dump_fn **before);
