/* Finds the page map of a jemalloc without symbols, which distributions strip: by what its tables must be. */
#pragma once

#include "outside/jelayout.h"
#include "outside/memsource.h"

/* A table of the last level. */
struct jp_jeleaf {
	uint64_t base; /* of the addresses that it is for */
	uint64_t at;   /* where it is */
};

struct jp_jemap {
	const struct jp_jelayout *layout; /* NULL: no jemalloc was found */
	uint64_t root;
	struct jp_jeleaf *leaves; /* by ascending base */
	size_t count, cap;
	const char *file;    /* whose data it lies in; it lives as long as the source's maps */
	uint64_t candidates; /* that were looked at */
};

/* Looks in the writable data of each mapped file, those whose name has "jemalloc" in it first. A root is one only if
 * each table that it leads to, for addresses that are mapped, is one: three of four entries lead to a record of an
 * extent that holds the entry's page. Data of the file `but_for`, unless that is NULL, are left out. 0, or -1 when
 * memory is short. To be released. */
int jp_jemap_find(struct jp_memsource *source, const char *but_for, struct jp_jemap *map) jp_must_check;

void jp_jemap_release(struct jp_jemap *map);

/* Whether the record of an entry is there, and that of an extent with `page`: in use, and from that page on, it has the
 * entry's class. */
bool jp_jemap_record(struct jp_memsource *source, const struct jp_jelayout *layout, const struct jp_jeentry *entry,
                     uint64_t page, struct jp_jerecord *record);
