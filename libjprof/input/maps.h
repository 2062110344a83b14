/* /proc/PID/maps: parsing and looking up addresses. The public part is in jprof.h. */
#pragma once

#include "base/reader.h"
#include "jprof.h"

/* What a mapping's path says that it is. */
enum jp_map_kind {
	JP_MAP_FILE,
	JP_MAP_DELETED, /* "FILE (deleted)": unlinked or replaced while mapped */
	JP_MAP_MEMFD,
	JP_MAP_SPECIAL, /* [vdso], [stack] ... */
	JP_MAP_ANON,
};

enum jp_map_kind jp_map_kind_of(const char *path);

/* Reads lines until the end or until one is no mapping. Such a line is described in *err and the
 * function returns JPROF_E_FORMAT, but *maps still gets what came before it. Only when memory is
 * short is *maps left NULL. */
int jp_maps_read(struct jp_reader *reader, const char *name, struct jprof_maps **maps, struct jprof_error *err);

/* The mapping that holds an address, or NULL. */
const struct jprof_map *jp_maps_find(const struct jprof_maps *maps, uint64_t address);
