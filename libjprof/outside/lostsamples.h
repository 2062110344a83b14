/* Where blocks that nothing points to were allocated, as far as they were sampled. */
#pragma once

#include "outside/jeprofile.h"
#include "outside/lostblocks.h"

/* Writes what a dump would be of which these blocks are all samples. It stays empty where none of them was sampled, or
 * the list says nothing. 0, or -1 when memory is short. */
int jp_lostsamples_write(const struct jp_lostblocks *lost, const struct jp_jeprofile *profile,
                         const struct jp_memsource *source, struct jp_strbuf *text) jp_must_check;
