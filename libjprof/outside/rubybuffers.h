/* Which of Ruby's objects has each block that jemalloc sampled: by that, lines that allocate buffers and the graph of
 * objects (docs/internals/graph.md) are joined. */
#pragma once

#include "base/strbuf.h"
#include "outside/jeprofile.h"
#include "outside/rubypages.h"

/* Writes the member "buffers" of a bundle (docs/internals/buffers.md); nothing where there is no profile or no Ruby, or
 * where not all of Ruby's heap could be read. 0, or -1 when memory is short. */
int jp_rubybuffers_write(struct jp_memsource *source, const struct jp_jeprofile *profile,
                         const struct jp_rubypages *pages, struct jp_strbuf *text) jp_must_check;
