/* What symbolizing found, in a form that a bundle carries: docs/internals/bundle.md. */
#pragma once

#include "base/strbuf.h"
#include "jprof.h"

/* Appends the proven build-ids of the profile's objects as they stand in bundle.json: {"path": ..}, ... */
void jp_symbols_build_ids(const struct jprof_profile *profile, struct jp_strbuf *out);

/* The two files of a profile that is symbolized: the names as gzip'd profile.proto, and the rest as JSON. */
int jp_symbols_render(const struct jprof_profile *profile, struct jp_strbuf *proto, struct jp_strbuf *json,
                      struct jprof_error *err);
