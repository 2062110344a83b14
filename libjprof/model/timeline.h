/* The life of a process since its startup, cut into pieces that follow each other without a gap: what the shape of a
 * row is judged by. Epochs without samples are pieces, too, and very short ones are put together. */
#pragma once

#include "model/ages.h"

enum { jp_timeline_most = 96 }; /* pieces */

struct jp_timeline {
	uint64_t border[jp_timeline_most + 1]; /* milliseconds since 1970 */
	double length[jp_timeline_most];       /* seconds */
	uint32_t count;
};

void jp_timeline_make(struct jp_timeline *line, const struct jp_ages *ages, const struct jp_epochs *epochs);

/* The piece that holds the middle of an epoch of JP_STAGE_SINCE; JP_NONE: there is none. */
uint32_t jp_timeline_piece(const struct jp_timeline *line, const struct jp_aged *epoch);
