/* The names that a bundle has for its dump become those of the dump's profile. */
#pragma once

#include "base/reader.h"
#include "model/profile.h"

/* Takes over what symbols.pb.gz (unpacked) and symbols.json of a bundle tell of the profile's addresses; `json` may be
 * empty: then the names count as the input's own. What is faulty is left out. 0, or -1 when memory is short. */
int jp_names_take(struct jprof_profile *profile, struct jp_span pprof, struct jp_span json) jp_must_check;
