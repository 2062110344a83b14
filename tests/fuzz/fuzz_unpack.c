/* Target: compressed files of all kinds, with small limits. Asserts that the limits hold. */
#include "fuzz.h"
#include "input/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct jp_unpack_limits limits = { .size = 1 << 18, .free_size = 1 << 14, .ratio = 50 };
	struct jp_strbuf jp_cleanup(jp_strbuf_release) out = { 0 };
	struct jprof_error fault = { 0 }, err = { 0 };
	int rc = jp_unpack(data, size, "fuzz", &limits, &out, &fault, &err);
	must(out.len <= limits.size);
	must(!rc || *err.text);
	must(!fault.code || *fault.text);
	return 0;
}
