/* Without libiberty: C++ names by the C++ runtime; Rust's v0 names stay mangled. */
#include <stddef.h>

#include "input/demangle.h"

char *__cxa_demangle(const char *name, char *buffer, size_t *size, int *status);

char *jp_demangle_with_library(const char *name, bool bare)
{
	int status;
	(void)bare;
	return __cxa_demangle(name, NULL, NULL, &status);
}

const char *jp_demangler(void)
{
	return "the C++ runtime (C++ names; built without libiberty: Rust v0 names stay mangled)";
}
