/* Which of the sampled objects live. To Ruby 3.4 an object's id is never given twice, so it is the one that was sampled
 * where a slot at its address has its type and its id. Of Ruby 4.0 it has a mark, which a new object does not have: a
 * bit of its flags of which Ruby makes no use. Where GC.compact has moved objects those of 4.0 are not told any more.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ruby/ruby_api.h"

struct newobj_version;

/* In a job, on a Ruby thread; may raise. Are all functions there, and is an object seen to have an id as it is
 * expected? NULL, or why not. */
const char *slotstock_learn(const struct newobj_version *version);

/* Likewise. Those that do not live leave slottable.h, the others get this number and the names of their classes. Ends a
 * sweep that is under way. Returns NULL, or why nothing was done. */
const char *slotstock_take(uint32_t stock);

/* On a Ruby thread: is no garbage being collected, so that there is no sweep to be ended? */
bool slotstock_is_cheap(void);

/* On a Ruby thread, in an allocation: what this object is known by from now on; not 0. Nothing is collected meanwhile.
 */
VALUE slotstock_identify(VALUE object);
