#include "ruby/slotdata.h"

#include <stdbool.h>
#include <stddef.h>

/* Of Ruby 3.1 and 3.2 (objects of 3.1): rarray.h, robject.h, internal/hash.h, internal/struct.h and transient_heap.c. A
 * Hash has room for 8 pairs where it has no table of its own. What is larger than 2 KB is malloc's from the start. */
enum { TABLE_WORDS = 8 * 2, MOST_WORDS = 2048 / sizeof(VALUE) };

struct heap_object {
	VALUE flags, class;
	union {
		struct {
			long len, capacity;
		} array;
		struct {
			const void *table;
		} hash;
		struct {
			uint32_t variables;
		} object;
		struct {
			long len;
		} structure;
	} as;
};

/* The n-th flag that each type uses as it likes. */
static bool has(const struct heap_object *object, unsigned n)
{
	return object->flags >> (12 + n) & 1;
}

/* Words that it has outside of its slot, in malloc's memory. */
static size_t words_outside(const struct heap_object *o, unsigned type)
{
	bool here = false, young = false;
	long words = 0;
	switch (type) {
	case T_ARRAY:
		here = has(o, 1) || has(o, 2); /* in its slot, or another Array's */
		young = has(o, 13);
		words = o->as.array.capacity;
		break;
	case T_HASH:
		here = has(o, 3) || !o->as.hash.table; /* st_table, or nothing */
		young = has(o, 14);
		words = TABLE_WORDS;
		break;
	case T_OBJECT:
		here = has(o, 1);
		young = has(o, 13);
		words = o->as.object.variables;
		break;
	case T_STRUCT:
		here = has(o, 1) || has(o, 2);
		young = has(o, 3);
		words = o->as.structure.len;
		break;
	default: break;
	}
	return here || young || words < 0 ? 0 : (size_t)words;
}

uint8_t slotdata_moved(VALUE object, unsigned type)
{
	size_t words = words_outside((const struct heap_object *)object, type);
	return words > MOST_WORDS ? 0 : (uint8_t)((words * sizeof(VALUE) + SLOTDATA_UNIT - 1) / SLOTDATA_UNIT);
}
