/* Names from packs, for what nothing else names in an object file. */
#ifndef JP_INPUT_PACKNAMES_H
#define JP_INPUT_PACKNAMES_H

#include "input/lookup.h"
#include "input/namerequest.h"
#include "input/objfile.h"

struct jp_packnames;

/* Of the given packs the one that fits best; none where they do not fit, which is remarked on the file. Reads the
 * file's code, once. NULL when memory is short. Lives as long as its names are used; `object` outlives it. */
struct jp_packnames *jp_packnames_new(struct jp_objfile *object, const struct jp_open_file *packs, size_t count);
void jp_packnames_free(struct jp_packnames *names);

/* The name of the function that begins there, or NULL. */
const char *jp_packnames_at(const struct jp_packnames *names, uint64_t start);

#endif
