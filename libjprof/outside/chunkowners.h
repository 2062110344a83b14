/* What Ruby's objects have in glibc's malloc or musl's, as struct jp_referrers says it of jemalloc's live memory:
 * chunks that an object's slot has the very address of, and those that such a chunk has. What others own is not looked
 * for. */
#pragma once

#include "outside/othermalloc.h"
#include "outside/referrers.h"

/* Takes the blocks. 0, or -1 when memory is short. To be released. */
int jp_chunkowners_find(struct jp_memsource *source, struct jp_othermalloc *other, const struct jp_rubypages *pages,
                        const struct jp_rubynames *names, const struct jp_rubycensus *census,
                        struct jp_referrers *referrers) jp_must_check;
