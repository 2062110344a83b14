/* What a file hands to rb_define_method and its kin, by following the values that its code calls them with. */
#pragma once

#include "base/intern.h"
#include "machine/references.h"

/* One method and its function. */
struct jp_registration {
	uint32_t function; /* of the image */
	uint32_t text;     /* of `texts`: "Class#name", "Class.name", or "#name", ".name" */
	uint32_t owner;    /* the class alone; JP_NONE: not known */
	uint32_t method;   /* its name alone */
};

/* All of those in functions that were sighted, in the order of the code, to be freed by the caller in any case. 0, or
 * -1 when memory is short. */
int jp_registrations_find(const struct jp_image *image, const struct jp_references *references, struct jp_intern *texts,
                          struct jp_registration **found, size_t *count);
