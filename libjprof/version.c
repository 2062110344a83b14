#include "input/demangle.h"
#include "jprof.h"

const char *jprof_version(void)
{
	return JPROF_VERSION;
}

const char *jprof_features(void)
{
	return jp_demangler();
}
