/* Files that were read because a dump, debug information or a directory led to them: a report does not go onto one. */
#pragma once

#include <sys/stat.h>

#include "jprof.h"

/* For jprof_symbolize_opts and jprof_report_opts: keeps what was opened, until the program ends. */
const struct jprof_notice *filesread_notice(void);

/* Likewise what the program read, or wrote for others to read. */
void filesread_add(const struct stat *st);

/* NULL, or why nothing may be written to that file, in words. */
const char *filesread_refusal(const struct stat *st);
