/* Whether a table of Ruby stacks is that of a dump: docs/internals/ruby-table.md. */
#pragma once

#include "collect/dumpfile.h"

/* What speaks against it: the table is of another process or another dump, or one of both cannot be read. NULL:
 * nothing. */
const char *jp_table_doubt(const struct jprof_target *target, const struct jprof_dump_file *table,
                           const struct jprof_dump_file *dump);
