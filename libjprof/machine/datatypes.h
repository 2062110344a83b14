/* Tables of the types of Ruby's wrapped C objects (rb_data_type_t). Its layout since Ruby 2.1, 8 bytes each
 * (include/ruby/internal/core/rtypeddata.h): name; functions mark, free, size, compact (null where there is none; the
 * second may be -1: xfree); reserved, null; parent type; data; flags. */
#ifndef JP_MACHINE_DATATYPES_H
#define JP_MACHINE_DATATYPES_H

#include "machine/references.h"

enum { JP_TYPE_FUNCTIONS = 4 };

struct jp_data_type {
	uint64_t at;
	const char *name;
	uint64_t functions[JP_TYPE_FUNCTIONS]; /* 0: none, or another file's */
	uint64_t parent;                       /* 0: none */
	bool used;
};

struct jp_data_types {
	struct jp_data_type *items; /* ascending */
	size_t count, cap;
};

/* All that looks like one. 0, or -1 when memory is short; released either way. */
int jp_data_types_find(const struct jp_image *image, struct jp_data_types *types);

/* What may be seen of the i-th type in code: its own address, and words of memory that hold it. Calls `add` for each;
 * what is not 0 ends it and is returned. */
int jp_data_types_watch(const struct jp_image *image, const struct jp_data_types *types,
                        int (*add)(void *context, uint64_t address, size_t type), void *context);

/* What that function is called: "mark", "free" ... */
const char *jp_type_function_name(unsigned function);

void jp_data_types_release(struct jp_data_types *types);

#endif
