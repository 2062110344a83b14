/* C++ and Rust (legacy and v0) by libiberty. */
#include <libiberty/demangle.h>

#include "input/demangle.h"

char *jp_demangle_with_library(const char *name, bool bare)
{
	return cplus_demangle(name, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO | (bare ? DMGL_RET_DROP : 0));
}

const char *jp_demangler(void)
{
	return "libiberty (C++ and Rust names)";
}
