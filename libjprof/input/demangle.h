/* Names for people: C++ and Rust names demangled, and shortened. */
#pragma once

#include "base/strbuf.h"

/* Writes the demangled name with parameters to `full` and without to `brief`; a name that is not
 * mangled goes to both as it is. */
void jp_demangle(const char *name, struct jp_strbuf *full, struct jp_strbuf *brief);

/* Whether a name looks like a mangled one of C++ or Rust. */
bool jp_is_mangled(const char *name);

/* Takes parameter lists, template arguments and trailing qualifiers out of a demangled name:
 * "ns::f<int>(char const*) const" becomes "ns::f". Operators, "(anonymous namespace)", lambdas
 * and Rust's "<T as Trait>::f" keep what makes them distinct. A function of Rust has one such name, whether the linker
 * knows it by a legacy name or by one of v0: "<PATH>::f" is "PATH::f", closures have no numbers. */
void jp_shorten(const char *full, struct jp_strbuf *brief);

/* The demangler in use, in words. */
const char *jp_demangler(void);

/* What differs between demanglers: returns a string for free(), or NULL if `name` is not mangled.
 * With `bare`, function names come without return type. One of demangle_*.c has it. */
char *jp_demangle_with_library(const char *name, bool bare);
