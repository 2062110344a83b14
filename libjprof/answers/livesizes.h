/* Live memory by size, where each object was counted: at several moments. */
#pragma once

#include "answers/parts.h"
#include "model/figures.h"

/* Whether no moment has a dump, and all have live memory that was counted. */
bool jp_live_is_counted(const struct jp_moments *moments);

/* The sizes that any moment has live objects of; how many there are. */
size_t jp_live_sizes(const struct jp_moments *moments, uint64_t sizes[jp_most_classes]);

/* The live objects of a size at the i-th moment. */
struct jp_class_sum jp_live_of_size(const struct jp_moments *moments, size_t i, uint64_t size);

enum { jp_most_pointing = 3 * jp_most_referrers };

/* What points to live memory at any moment, each once; how many there are. 0 where that was not looked for at each. */
size_t jp_live_referrers(const struct jp_moments *moments, const struct jp_referrer_sum *of[jp_most_pointing]);

/* What there is of it at the i-th moment. */
struct jp_referrer_sum jp_live_of_referrer(const struct jp_moments *moments, size_t i,
                                           const struct jp_referrer_sum *like);
