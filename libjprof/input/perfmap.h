/* The list that a JIT compiler keeps of its code, for Linux perf and others: /tmp/perf-PID.map. */
#pragma once

#include "base/arena.h"
#include "base/file.h"
#include "input/lookup.h"

struct jp_perfmap;

/* Reads such a list. Lines that are none of it are skipped and counted; where no line is sound,
 * JPROF_E_FORMAT. `name` is used in errors and may be NULL. */
int jp_perfmap_parse(const void *data, size_t len, const char *name, struct jp_perfmap **map, struct jprof_error *err);

/* The same for a file that the user named. */
int jp_perfmap_open(const char *path, struct jp_perfmap **map, struct jprof_error *err);

/* The same for /tmp/perf-PID.map below `root`; *map is NULL if there is none. JPROF_E_IO if it
 * is not a regular file, belongs to another user who is neither root nor `uid`, or may be written by anybody. */
int jp_perfmap_open_pid(struct jp_root root, uint64_t pid, unsigned uid, struct jp_perfmap **map,
                        struct jprof_error *err);

/* The number of faulty lines, and that of the first of them; the latter is 0 if there is none. A last line
 * without a newline is not counted: the list was being written. */
size_t jp_perfmap_faults(const struct jp_perfmap *map, unsigned *first_line);

/* Names those of `lookups` (sorted by vaddr, which here is an address in memory) that lie in listed code: one
 * frame each from `arena`, source JPROF_SOURCE_JIT, where they have none. Of several entries that hold an
 * address the last one counts, since code is compiled anew in old places. 0, or -1 when memory is short. */
int jp_perfmap_lookup(const struct jp_perfmap *map, struct jp_arena *arena, struct jp_lookup *lookups, size_t count);

void jp_perfmap_free(struct jp_perfmap *map);
