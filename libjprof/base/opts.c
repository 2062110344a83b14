#include "base/opts.h"

#include <string.h>

#include "base/error.h"

/* Bytes that no struct of options will have: what is larger was not initialised. */
enum { most_size = 1024 };

int jp_opts_take(void *own, size_t size, const void *given, struct jprof_error *err)
{
	size_t given_size = 0;
	memset(own, 0, size);
	if (given)
		memcpy(&given_size, given, sizeof given_size);
	if (given && given_size < sizeof given_size)
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0,
		                "options without their size: begin with { .size = sizeof opts }");
	if (given && (given_size > most_size || given_size % sizeof given_size))
		return jp_error(err, JPROF_E_ARGUMENT, NULL, 0,
		                "options of %zu bytes are none: begin with { .size = sizeof opts }", given_size);
	for (size_t i = size; i < given_size; i++)
		if (((const unsigned char *)given)[i])
			return jp_error(err, JPROF_E_ARGUMENT, NULL, 0,
			                "an option is set that this libjprof (%s) does not know", jprof_version());
	if (given)
		memcpy(own, given, given_size < size ? given_size : size);
	return 0;
}
