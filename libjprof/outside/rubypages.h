/* The pages of Ruby's GC heap, found without symbols by what they must be: a page begins with the address of its
 * record, and that has the size of its slots, their number and the address of the first. Sources: struct heap_page of
 * gc.c, Ruby 3.1 to 3.4: the fields are looked for, for each version has others between them. */
#pragma once

#include "outside/memsource.h"

enum { jp_ruby_most_page = 65536, jp_ruby_least_slot = 40 };

/* Types that names are read of: enum ruby_value_type. */
enum {
	jp_ruby_type_class = 2,
	jp_ruby_type_module = 3,
	jp_ruby_type_string = 5,
	jp_ruby_type_array = 7,
	jp_ruby_type_hash = 8,
	jp_ruby_type_data = 12,
	jp_ruby_type_imemo = 26,
	jp_ruby_type_iclass = 28,
};

struct jp_rubypage {
	uint64_t at;                /* address */
	uint64_t first;             /* that of its first slot */
	uint32_t slot, count, size; /* bytes of a slot, slots, bytes of the page */
};

struct jp_rubypages {
	struct jp_rubypage *items; /* ascending; none reaches into the next */
	size_t count, cap;
};

/* Finds them in mappings without a file. 0, or -1 when memory is short. To be released. */
int jp_rubypages_find(struct jp_memsource *source, struct jp_rubypages *pages) jp_must_check;

void jp_rubypages_release(struct jp_rubypages *pages);

/* The page that holds an address, NULL: none does. */
const struct jp_rubypage *jp_rubypages_at(const struct jp_rubypages *pages, uint64_t address);

/* The type of the object that begins at an address, 0: none does, or the slot is free. */
unsigned jp_rubypages_type(struct jp_memsource *source, const struct jp_rubypages *pages, uint64_t address);
