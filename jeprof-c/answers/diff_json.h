/* What `jprof diff` prints for programs: docs/internals/diff.schema.json. */
#pragma once

#include "answers/diff_text.h"

void diff_put_json(FILE *out, const struct diff_report *report);
void diff_put_csv(FILE *out, const struct diff_report *report);

/* One row, as an object. */
void diff_put_json_row(FILE *out, const struct diff_report *report, const struct jprof_grown *row);

/* "notes": what is to be known of how the snapshots were compared. */
void diff_put_json_notes(FILE *out, const struct loaded_series *loaded);
