/* What is behind the places, paths and names of a view; a view of one thread has paths of its own and no more. */
#pragma once

#include "model/ages.h"
#include "view/origin.h"
#include "view/rows.h"

struct jp_view_store {
	struct jp_arena places; /* of stacks that are no run of one of the profile's; paths; words */
	struct jp_rows rows;
	uint32_t *location_of; /* by frame */
	struct jp_origins origins;
	struct jp_ages ages;
};
