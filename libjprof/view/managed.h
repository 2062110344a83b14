/* Memory that Ruby's garbage collector may free: told by object files alone. */
#pragma once

#include "model/code.h"

/* What each object is in this respect; to be released by free. NULL when memory is short. */
uint8_t *jp_managers_of(const struct jp_code *code) jp_must_check;

/* Whether Ruby asked for the memory of a stack (not folded, innermost place first), or a library that an extension of
 * Ruby called: objects of Ruby hold such memory. What an extension takes from malloc by itself is its own. */
bool jp_is_managed(const struct jp_code *code, const uint8_t *managers, const uint32_t *places, size_t depth);
