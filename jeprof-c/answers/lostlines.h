/* By which lines or functions the blocks were allocated that no pointer was found to: what those of them that were
 * sampled stand for. */
#pragma once

#include <stdio.h>

#include "cli/answer.h"
#include "report/load.h"

struct lost_lines {
	struct loaded loaded;     /* the samples of these blocks; without a format: none was sampled */
	struct jprof_view *view;  /* NULL likewise */
	struct jprof_table *rows; /* likewise */
	bool sampled;             /* the snapshot has samples of other blocks */
};

/* Reads them beside the snapshot that was loaded. False after having said what is wrong; to be freed in any case. */
bool lost_lines_load(struct lost_lines *lines, const struct loaded *now, const struct inputs *inputs,
                     const struct options *options);

void lost_lines_add(struct answer *answer, const struct lost_lines *lines);

/* An object in JSON. */
void lost_lines_put_json(FILE *out, const struct lost_lines *lines);

void lost_lines_free(struct lost_lines *lines);
