/* Opening again, after symbolizing, the object files that gave the names. */
#pragma once

#include "input/debugfile.h"
#include "model/code.h"

/* Remember what is needed for that. 0, or -1 when memory is short. */
int jp_remember_file(struct jprof_profile *profile, uint32_t object, const struct jp_objfile *file) jp_must_check;
int jp_remember_where(struct jprof_profile *profile, const struct jp_debug_where *where) jp_must_check;

/* Where debug files were looked for; servers are not asked again. */
struct jp_debug_where jp_where_remembered(const struct jp_code *code);

/* Opens the file that an object's names are from, if it is still the same. JPROF_E_UNSUPPORTED, with a sentence, where
 * there is none. */
int jp_reopen(const struct jp_code *code, uint32_t object, struct jp_objfile **file, struct jprof_error *err);
