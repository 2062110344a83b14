/* Which function names say how memory was got, and not for what: tables that folding uses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/macros.h"

/* An allocator's entry point without any prefix: malloc, operator new ... by its short name */
bool jp_is_allocator_name(const char *name);

/* An entry point of a jemalloc built with a prefix: je_malloc, _rjem_mallocx ... */
bool jp_is_prefixed_allocator_name(const char *name);

/* Length of such a name's prefix, 0 if it is no such name. */
size_t jp_allocator_prefix(const char *name);

/* A part of jemalloc that is no entry point: je_prof_backtrace, imalloc_body ... */
bool jp_is_allocator_internal(const char *name);

/* The table of wrappers around malloc (ops/wrapper_table.h), ready to be asked. */
enum { jp_wrapper_bins = 256 };

struct jp_wrapper_pattern {
	const char *text;
	size_t literal; /* how much of it is no wildcard, from the beginning on */
};

struct jp_wrappers {
	struct jp_wrapper_pattern *patterns;
	size_t first[jp_wrapper_bins + 1]; /* by a hash of their first two letters */
};

/* 0, or -1 when memory is short; to be released in either case. */
int jp_wrappers_init(struct jp_wrappers *wrappers) jp_must_check;
void jp_wrappers_release(struct jp_wrappers *wrappers);

/* A project's or a language's own wrapper around malloc, by its short name: ruby_xmalloc, zmalloc, CRYPTO_malloc ... */
bool jp_is_wrapper_name(const struct jp_wrappers *wrappers, const char *name);

/* A language's machinery between two frames that mean something: vm_exec_core, rb_yield ... */
bool jp_is_plumbing_name(const char *name);
