/* The live memory of a jemalloc by what points to it. What points to a block directly comes first, and of several
 * Ruby's objects before the data of files, stacks and what else is mapped; a block that only other blocks point to
 * counts for who has those. Only words are looked at, and of texts the names of classes and types alone. */
#pragma once

#include "outside/jeheap.h"
#include "outside/lostblocks.h"
#include "outside/referrertable.h"

struct jp_referrers {
	struct jp_referrer *items; /* own ones first, then by descending bytes */
	size_t count;
	bool complete; /* false: there was more than is ever read */
};

/* `census` says which classes are the program's own. `lost` gets what nothing points to, unless it is NULL. 0, also
 * where there are more blocks than are ever looked at: then there are none; or -1 when memory is short. To be released.
 */
int jp_referrers_find(struct jp_memsource *source, const struct jp_jeextents *extents, const struct jp_jeheap *heap,
                      const struct jp_rubypages *pages, const struct jp_rubynames *names,
                      const struct jp_rubycensus *census, struct jp_lostblocks *lost,
                      struct jp_referrers *referrers) jp_must_check;

void jp_referrers_release(struct jp_referrers *referrers);

/* Writes them as the member `referrers` of heap.json. */
void jp_referrers_write(const struct jp_referrers *referrers, struct jp_jsonout *out);
