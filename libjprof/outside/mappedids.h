/* Build-ids of the files that are mapped, by the headers that are in memory. */
#pragma once

#include "base/strbuf.h"
#include "outside/memsource.h"

enum { jp_memory_id = 2 * 64 + 1 };

/* Of the file that a mapping begins: the headers are in its first page. False: it has none, or that page is not there.
 */
bool jp_build_id_in_memory(struct jp_memsource *source, const struct jprof_map *map, char id[jp_memory_id]);

/* Writes all of them as the `objects` of a side-car: docs/internals/agent.md. 0, or -1 when memory is short. */
int jp_mapped_ids_write(struct jp_memsource *source, struct jp_strbuf *text) jp_must_check;
