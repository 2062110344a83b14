/* Names from packs, for what nothing else names in an object file. */
#pragma once

#include "input/lookup.h"
#include "input/namerequest.h"
#include "input/objfile.h"

struct jp_packnames;

/* Of the given packs the one that fits best; none where they do not fit, which is remarked on the file. NULL when
 * memory is short. Lives as long as its names are used; at most jp_most_packs; `object` and `files` outlive it. */
struct jp_packnames *jp_packnames_new(struct jp_objfile *object, const struct jp_open_file *files, size_t count);
void jp_packnames_free(struct jp_packnames *names);

/* Whether one of them fits. */
bool jp_packnames_fit(const struct jp_packnames *names);

/* The name of the function that begins there; "": there is none. Where the file is as the pack, only functions that are
 * asked for are read; else all, once. 0, or -1 when memory is short. */
int jp_packnames_at(struct jp_packnames *names, uint64_t start, const char **name) jp_must_check;
