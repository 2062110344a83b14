/* Where blocks that nothing points to were allocated, as far as they were sampled. */
#pragma once

#include "outside/jeprofile.h"
#include "outside/lostblocks.h"

/* Writes the dump of a process in which only these of its sampled blocks live. The text stays empty where none of them
 * was sampled, or the list is not known. 0, or -1 when memory is short. */
int jp_lostsamples_write(const struct jp_lostblocks *lost, const struct jp_jeprofile *profile,
                         const struct jp_memsource *source, struct jp_strbuf *text) jp_must_check;
