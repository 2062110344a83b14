/* Dumps at new peaks of the memory in use: which are due, and which go. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "dump_result.h"

/* In each process, which knows nothing of its parent's dumps: what is in use now is no peak. */
void peak_start(uint64_t resident);

/* Whether so many resident bytes are a new peak: a tenth above that of the last dump. 0 bytes, which is not known, are
 * none. */
bool peak_is_new(uint64_t resident);

/* A dump was made there, of so many resident bytes. The newest two are kept: the files of the one before go, as far as
 * they are still those that this process has written. */
void peak_keep(const struct dump_result *made, uint64_t resident);
