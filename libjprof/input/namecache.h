/* Names that were found are kept in a directory of the user's, so that the next question for them opens no debug
 * information: docs/internals/design.md, "Kept names". What is kept are answers about places in files, never results.
 */
#pragma once

#include "base/ourdir.h"
#include "input/namereply.h"
#include "input/namerequest.h"

struct jp_namecache;

/* Whether a file of the directory is one of a cache, by its name and by how it begins. */
bool jp_is_namecache_file(int dir, const char *name);

/* How many bytes of them there may be where the caller does not say. */
enum { jp_namecache_most = 256 << 20 };

/* Opens the cache in the directory `path`, which is made if it is not there. *cache is NULL where it cannot be used: it
 * belongs to somebody else or others can write it. `most`: how many bytes it may have in the end. 0, or -1 when memory
 * is short. */
int jp_namecache_open(const char *path, uint64_t most, struct jp_namecache **cache) jp_must_check;

/* Removes what was used longest ago, if it has become too large. */
void jp_namecache_close(struct jp_namecache *cache);

/* As jp_finder_ask: what the cache (NULL: none) does not know is found by `finder` and kept. The same request has the
 * same places, frames and remarks with and without. `build_id` is the object file's, or "". */
int jp_namecache_find(struct jp_namecache *cache, const char *build_id, const struct jprof_name_finder *finder,
                      const struct jp_name_request *request, struct jp_namereply *reply,
                      struct jprof_error *err) jp_must_check;
