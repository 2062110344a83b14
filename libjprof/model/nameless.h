/* Locations of lean profiles that have no frames: what they go by follows from their file and offset. */
#pragma once

#include "model/code.h"

enum { jp_nameless_size = 432 };

/* How much of a file's name names its functions: the stem, unless a file of another name has that, too. */
size_t jp_nameless_label(const struct jprof_profile *profile, uint32_t object);

/* FILE+0xOFFSET, or 0xADDRESS outside all mappings. */
const char *jp_nameless_name(const struct jp_code *code, const struct jp_location *location,
                             char name[jp_nameless_size]);

/* Gives functions to those whose name another location has, too, or a function: so each that is left is the only one of
 * its name. Called once, when all other names were found. 0, or -1 when memory is short. */
int jp_nameless_settle(struct jprof_profile *profile) jp_must_check;
