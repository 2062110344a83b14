/* Which function names say how memory was got, and not for what: tables that folding uses. */
#ifndef JP_OPS_WRAPPERS_H
#define JP_OPS_WRAPPERS_H

#include <stdbool.h>
#include <stddef.h>

/* An allocator's entry point without any prefix: malloc, operator new ... by its short name */
bool jp_is_allocator_name(const char *name);

/* An entry point of a jemalloc built with a prefix: je_malloc, _rjem_mallocx ... */
bool jp_is_prefixed_allocator_name(const char *name);

/* Length of such a name's prefix, 0 if it is no such name. */
size_t jp_allocator_prefix(const char *name);

/* A part of jemalloc that is no entry point: je_prof_backtrace, imalloc_body ... */
bool jp_is_allocator_internal(const char *name);

/* A language's own wrapper around malloc: ruby_xmalloc, objspace_xmalloc0, __rust_alloc ... */
bool jp_is_wrapper_name(const char *name);

/* A language's machinery between two frames that mean something: vm_exec_core, rb_yield ... */
bool jp_is_plumbing_name(const char *name);

#endif
