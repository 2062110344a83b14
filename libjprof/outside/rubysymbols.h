/* Where a process's Ruby has the classes that it exports. */
#pragma once

#include "jprof-live.h"
#include "outside/rubynames.h"

/* Whether its files are opened with its rights, and no more. */
bool jp_opens_with_its_rights(const struct jprof_target *target);

/* Opens the very file that a mapping is of; -1: it cannot be had, with ENOMEM in errno when memory is short. */
struct jp_mapped_files {
	int (*open)(const void *context, struct jp_memsource *source, const struct jprof_map *map);
	const void *context;
};

/* Those of a live process, as it sees them and with no more rights than it has. */
struct jp_mapped_files jp_files_of_target(const struct jprof_target *target);

/* Those of a core: files of this machine at the same place with the build-id that is in the core's memory. */
struct jp_mapped_files jp_files_of_core(void);

/* Reads .dynsym of the file that is mapped, as hostile; a variable that is not found is 0. 0, or -1 when memory is
 * short. */
int jp_ruby_variables(const struct jp_mapped_files *files, struct jp_memsource *source,
                      uint64_t variables[jp_ruby_known]) jp_must_check;
