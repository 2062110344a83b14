/* Where a process's Ruby has the classes that it exports. */
#ifndef JP_OUTSIDE_RUBYSYMBOLS_H
#define JP_OUTSIDE_RUBYSYMBOLS_H

#include "jprof-live.h"
#include "outside/rubynames.h"

/* Whether its files are opened with its rights, and no more. */
bool jp_opens_with_its_rights(const struct jprof_target *target);

/* Reads .dynsym of the file that the process has mapped, as the process sees it and with no more rights than it has;
 * the file is read as hostile. 0 for what is not found. */
void jp_ruby_variables(const struct jprof_target *target, const struct jprof_maps *maps,
                       uint64_t variables[jp_ruby_known]);

#endif
