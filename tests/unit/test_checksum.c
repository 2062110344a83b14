/* The sums that the authors of FNV-1a give for 64 bits (http://www.isthe.com/chongo/tech/comp/fnv/), and a source that
 * adds up what it hands on. */
#include "base/checksum.h"
#include "harness.h"

TEST(test_known_sums)
{
	static const struct {
		const char *text;
		uint64_t fnv;
	} known[] = { { "", UINT64_C(0xcbf29ce484222325) },
		      { "a", UINT64_C(0xaf63dc4c8601ec8c) },
		      { "foobar", UINT64_C(0x85944171f73967e8) } };
	for (size_t i = 0; i < jp_count(known); i++) {
		struct jp_checksum sum = jp_checksum_none();
		for (const char *s = known[i].text; *s; s++)
			jp_checksum_add(&sum, s, 1);
		assert_int_equal(sum.fnv, known[i].fnv);
		assert_int_equal(sum.size, strlen(known[i].text));
	}
}

TEST(test_source)
{
	struct jp_checksum sum = jp_checksum_none();
	struct jp_bytesource *source = jp_checksum_source(jp_bytesource_memory("foobar", 6), &sum);
	char bytes[4];
	size_t got;
	assert_non_null(source);
	assert_int_equal(source->pull(source, bytes, sizeof bytes, &got, NULL), 0);
	assert_int_equal(got, 4);
	assert_memory_equal(bytes, "foob", 4);
	assert_int_equal(source->pull(source, bytes, sizeof bytes, &got, NULL), 0);
	assert_int_equal(got, 2);
	assert_int_equal(source->pull(source, bytes, sizeof bytes, &got, NULL), 0);
	assert_int_equal(got, 0);
	jp_bytesource_close(source);
	assert_int_equal(sum.fnv, UINT64_C(0x85944171f73967e8));
	assert_int_equal(sum.size, 6);
}
