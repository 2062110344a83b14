/* Packs of names that are in the program itself: one static file has no folder of them beside it. */
#pragma once

#include <stddef.h>

struct jp_builtin_pack {
	const char *name; /* of the file that it was */
	const unsigned char *begin, *end;
};

/* The i-th, from 0, by name; NULL: there are no more. */
const struct jp_builtin_pack *jp_builtin_pack_at(size_t i);
