/* Target: symbolized files. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_profile(data, size, JP_FORMAT_RAW);
	return 0;
}
