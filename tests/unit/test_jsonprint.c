/* JSON by a format, as printf: which values its conversions are. */
#include "cli/jsonprint.h"
#include "harness.h"

/* What `call`, which prints to `out`, prints. */
#define PRINTS(should, call)                                                                                           \
	do {                                                                                                           \
		char *is = NULL;                                                                                       \
		size_t len;                                                                                            \
		FILE *out = open_memstream(&is, &len);                                                                 \
		assert_non_null(out);                                                                                  \
		call;                                                                                                  \
		fclose(out);                                                                                           \
		assert_string_equal(is, should);                                                                       \
		free(is);                                                                                              \
	} while (0)

TEST(test_texts)
{
	const char *volatile none = NULL;
	PRINTS("{\"a\": \"x\\\"\\n\", \"b\": null}", json_print(out, "{\"a\": %s, \"b\": %s}", "x\"\n", none));
	PRINTS("\"\xef\xbf\xbd\"", json_print(out, "%s", "\xff"));
}

TEST(test_numbers)
{
	PRINTS("[12, 0, 0, -3, null, null]",
	       json_print(out, "[%f, %f, %f, %f, %f, %f]", 12.2, -0.2, -0.0, -2.9, NAN, HUGE_VAL));
	PRINTS("0.250 1.23e-05 12.5 null", json_print(out, "%.3f %.3g %g %.3g", 0.25, 1.234e-5, 12.5, NAN));
	PRINTS("18446744073709551615 4294967295 -7",
	       json_print(out, "%zu %u %d", (size_t)18446744073709551615u, 4294967295u, -7));
	PRINTS("true false", json_print(out, "%i %i", true, false));
}

TEST(test_lists)
{
	PRINTS("[1, 2]", {
		json_print_at(out, 0, "[%d", 1);
		json_print_at(out, 1, "%d]", 2);
	});
}
