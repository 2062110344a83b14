/* What would bring the names that are missing, in terms of the machine: packages, files, servers. */
#pragma once

#include "report/options.h"

struct remedies;

/* Of all that a view shows; it lives no longer than the coverage. NULL when memory is short. A package is named only
 * where the file that lies here, or below --sysroot, has the build-id of the one that ran. */
struct remedies *remedies_new(const struct jprof_coverage *coverage, const struct options *options);

/* What is wrong with the i-th file of the coverage and what helps, with the package's name or the build-id; "": nothing
 * is missing. It lives as long as the remedies. */
const char *remedy_of(const struct remedies *remedies, size_t i);

/* The command that installs the packages of all files, each once, the largest first; "": there is none. */
const char *remedy_command(const struct remedies *remedies);

/* What kind of remedy the i-th file has: the package of that command, its build-id on a server, or another one. */
enum remedy_kind { REMEDY_PACKAGE, REMEDY_SERVER, REMEDY_OTHER };
enum remedy_kind remedy_kind(const struct remedies *remedies, size_t i);

/* Whether two files have the same, but for build-ids. */
bool remedies_alike(const struct remedies *remedies, size_t i, size_t k);

/* The command for one file of a coverage alone. False: there is no package here that has it. */
bool remedy_for_file(const struct jprof_coverage_file *file, const struct options *options, char *command, size_t size);

/* NULL is fine. */
void remedies_free(struct remedies *remedies);
