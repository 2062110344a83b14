/* How old the memory of rows is. */
#pragma once

#include "view/view.h"

/* 0, or -1 when memory is short. */
int jp_slices_add(struct jp_view_slices *slices, const struct jp_view_slice *slice) jp_must_check;

/* Orders the slices by their owner, of which there are `owners`, and else leaves them as they were. 0, or -1 when
 * memory is short. */
int jp_slices_order(struct jp_view_slices *slices, uint32_t owners) jp_must_check;

void jp_slices_release(struct jp_view_slices *slices);

/* Makes the ages of rows out of those of stacks. 0, or -1 when memory is short. */
int jp_view_age_rows(struct jprof_view *view) jp_must_check;

/* Adds what a slice has to what the row has of its age: last_hour, older, startup or before_fork. */
void jp_row_add_age(const struct jprof_view *view, const struct jp_view_slice *slice, struct jprof_row *row);

/* The same as a word for programs, static; NULL where ages are not known, or this one. */
const char *jp_age_label(const struct jp_ages *ages, uint32_t epoch);

/* The slices of a row, in no order. */
const struct jp_view_slice *jp_row_slices(const struct jprof_view *view, const struct jprof_row *row, size_t *count);
