/* Which versions of gems a Debian has. */
#pragma once

#include "base/file.h"
#include "model/profile.h"

/* Fills in profile->gems for files in vendor_ruby. The list of files of the package that has such a file names the
 * gem's specification, and that has the version. Only where the interpreter's own file was found, and nothing of a
 * bundle: its machine's gems are in it. 0, or -1 when memory is short. */
int jp_find_gems(struct jprof_profile *profile, struct jp_root root) jp_must_check;
