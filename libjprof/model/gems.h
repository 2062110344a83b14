/* Versions of gems whose paths have none: Debian's packages put their files into .../vendor_ruby/NAME. */
#pragma once

#include "base/intern.h"
#include "base/reader.h"

enum { jp_most_gems = 1000 }; /* of a profile; what comes after these has no version */

/* The gem of a path below such a folder, of which the first part has so many bytes: that, but for gems whose files lie
 * in a folder of another name. A part of the path, or static. */
struct jp_span jp_gem_below(const char *path, size_t first_part);

/* The NAME in .../vendor_ruby/NAME/... or .../vendor_ruby/NAME.rb, also .../vendor_ruby/3.1.0/NAME.so; empty: the path
 * has none. As above. */
struct jp_span jp_vendored_gem(const char *path);

/* The version of a gem among texts "NAME VERSION"; NULL: it is not there, or there are several. */
const char *jp_gem_version(const struct jp_intern *gems, struct jp_span name);
