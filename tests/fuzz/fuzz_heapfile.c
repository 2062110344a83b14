/* Target: heap_v2 dumps. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_profile(data, size, JP_FORMAT_HEAP);
	return 0;
}
