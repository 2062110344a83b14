/* Target: profile.proto, not compressed. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_profile(data, size, JP_FORMAT_PPROF);
	return 0;
}
