/* What the files of /proc and of the control group in a bundle's member tell. */
#pragma once

#include "bundle/bundle.h"
#include "model/process_sums.h"

/* The number behind "KEY:" or "KEY " at the beginning of a line; false: there is none. `file` may be NULL. */
bool jp_number_in_lines(const struct jp_bundle_file *file, const char *key, uint64_t *number);

void jp_figures_of_proc(struct jp_outside *to, const struct jp_bundle_member *member);
