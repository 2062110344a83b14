/* Ruby's objects, counted by type and class from the pages of its GC heap. Of a String nothing but its type is looked
 * at; the only text that is read is the names of classes, and the files of constants, to tell whose a class is. */
#pragma once

#include "base/jsonout.h"
#include "input/rubytypes.h"
#include "outside/jeextents.h"
#include "outside/othermalloc.h"
#include "outside/rubynames.h"

enum { jp_ruby_classes = 1 << 16 };

/* Objects of a type and class. */
struct jp_rubytally {
	uint64_t class, count, slots; /* slots: their bytes */
	unsigned type;                /* 0: the place in the table is free */
	bool own;                     /* a constant that the program's own files define has the class */
	char name[jp_ruby_name_size]; /* "": not known, or the tally was joined to another of that name */
};

struct jp_rubycensus {
	uint64_t pages, bytes, free_slots, free_bytes; /* bytes of pages, as far as they are in memory */
	uint64_t slots;
	uint64_t malloc_pages, malloc_bytes, malloc_size; /* pages that malloc gave, and what it gave for each */
	struct jp_rubytally types[jp_ruby_types];
	struct jp_rubytally *classes; /* by hash, then by descending bytes: class_count of them have a name */
	size_t used, class_count;
	bool named, cut; /* cut: there were more classes */
};

/* Counts; `extents` and `other` are where the records of constants are looked for. 0, also where there is no Ruby, or
 * -1 when memory is short. To be released. */
int jp_rubycensus_take(struct jp_memsource *source, const struct jp_rubypages *pages, const struct jp_rubynames *names,
                       const struct jp_jeextents *extents, const struct jp_othermalloc *other,
                       struct jp_rubycensus *census) jp_must_check;

void jp_rubycensus_release(struct jp_rubycensus *census);

/* Writes it as the member `ruby` of heap.json. */
void jp_rubycensus_write(const struct jp_rubycensus *census, struct jp_jsonout *out);

/* Whether an object of a type has a class that a program knows. */
bool jp_ruby_has_class(unsigned type);
