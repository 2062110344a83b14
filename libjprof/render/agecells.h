/* How old the memory of a row is, as reports write it. */
#pragma once

#include "base/strbuf.h"
#include "render/values.h"
#include "view/view.h"

enum { jp_age_bar = 10 }; /* characters */

/* In words for people and for JSON; "" of JPROF_SHAPE_NONE. */
extern const char *const jp_shape_words[JPROF_SHAPES], *const jp_shape_keys[JPROF_SHAPES];

/* In the order in which they are shown. */
enum jp_age_part { JP_AGE_HOUR, JP_AGE_OLDER, JP_AGE_STARTUP, JP_AGE_FORK, JP_AGE_PARTS };

/* What a part is called: of a process that is younger than an hour all that came after its startup is "later". */
const char *jp_age_head(const struct jprof_view *view, enum jp_age_part part);

/* A part of a row, and whether a view shows it. */
double jp_age_part(const struct jprof_row *row, enum jp_age_part part);
bool jp_age_is_shown(const struct jprof_view *view, enum jp_age_part part);

/* Appends a picture of jp_age_bar characters: the startup and what came before a fork, then the time since in equal
 * parts up to the dump. The more of the row's memory is from a part, the more ink: " .:|#". */
void jp_put_age_bar(const struct jprof_view *view, const struct jprof_row *row, struct jp_strbuf *out);

/* Appends the column of --ages at the end of the text report's row, whose name began `name_len` bytes before the end
 * and is padded to `widest`. */
void jp_put_age_column(const struct jprof_view *view, const struct jprof_row *row, enum jp_unit unit, size_t name_len,
                       size_t widest, struct jp_strbuf *out);

/* The longest name of a table, but no more than 60 bytes. */
size_t jp_age_names(const struct jprof_table *table);
