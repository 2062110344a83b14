/* Names of functions that nobody names but Ruby: a library of Ruby's or a gem's hands them to rb_define_method and its
 * kin, with constants. */
#pragma once

#include "base/arena.h"
#include "machine/references.h"

struct jp_registered_name {
	uint64_t start; /* of the function; first, for jp_last_up_to */
	const char *name;
};

/* Ascending, each function once. All zero: none. */
struct jp_registered_names {
	struct jp_registered_name *items;
	size_t count, cap;
	struct jp_arena arena;
};

/* Finds them, and who refers to what in an image that knows Ruby; both results are empty, and released by the
 * caller either way. 0, or -1 when memory is short.
 *
 * A method is "Class#name", one of the class itself "Class.name", what makes its objects "Class.allocate"; where the
 * class is not known and the file has no other such method, "#name" or ".name". Of several names of one
 * class, or one name in several, the first counts; what has different names in different classes has none.
 */
int jp_registered_find(const struct jp_image *image, struct jp_references *references,
                       struct jp_registered_names *names);

void jp_registered_release(struct jp_registered_names *names);
