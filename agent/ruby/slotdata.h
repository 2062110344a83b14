/* What of an object a collection of Ruby 3.1 or 3.2 may have moved from Ruby's heap for what is young to malloc's
 * memory: the data of small Arrays, Hashes, Structs and objects. */
#pragma once

#include <stdint.h>

#include "ruby/ruby_api.h"

enum { SLOTDATA_UNIT = 16 };

/* Its size in these units, rounded up; 0: nothing. Reads the slot of an object that lives, and nothing else. */
uint8_t slotdata_moved(VALUE object, unsigned type);
