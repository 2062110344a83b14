/* Allocation wrappers without a name of their own. */
#pragma once

#include "input/objnames.h"

/* Start addresses of the nameless functions that an exported allocation wrapper (ruby_xmalloc ..., by the request)
 * calls or jumps to: they are wrappers too, in a library without symbols for its static functions.
 * *targets is sorted, to be freed by the caller. After jp_objnames_lookup. 0, or -1 when memory is short. */
int jp_wrapper_targets(const struct jp_objnames *names, const struct jp_name_request *request, uint64_t **targets,
                       size_t *count);

/* Whether `vaddr` is one of them. */
bool jp_is_target(const uint64_t *targets, size_t count, uint64_t vaddr);
