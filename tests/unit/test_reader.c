#include "base/reader.h"
#include "harness.h"

TEST(test_lines)
{
	static const char text[] = "one\r\n\n two \r\r\n\0z\nlast";
	static const struct {
		const char *line;
		size_t len;
		bool cut;
	} cases[] = {
		{ "one", 3, false }, { "", 0, false }, { " two \r", 6, false }, { "\0z", 2, false }, { "last", 4, true }
	};
	struct jp_reader reader;
	struct jp_span line;
	jp_reader_init(&reader, text, sizeof text - 1);
	for (size_t i = 0; i < jp_count(cases); i++) {
		assert_true(jp_reader_line(&reader, &line));
		assert_int_equal(line.len, cases[i].len);
		assert_memory_equal(line.ptr, cases[i].line, line.len);
		assert_int_equal(reader.line, i + 1);
		assert_int_equal(reader.cut, cases[i].cut);
	}
	assert_false(jp_reader_line(&reader, &line));
	jp_reader_init(&reader, NULL, 0);
	assert_false(jp_reader_line(&reader, &line));
}

TEST(test_numbers)
{
	static const struct {
		const char *text;
		bool hex;
		enum jp_number what;
		uint64_t value;
		const char *rest;
	} cases[] = {
		{ "0", false, JP_NUMBER_OK, 0, "" },
		{ "007x", false, JP_NUMBER_OK, 7, "x" },
		{ "12ab", false, JP_NUMBER_OK, 12, "ab" },
		{ "12aBg", true, JP_NUMBER_OK, 0x12ab, "g" },
		{ "18446744073709551615", false, JP_NUMBER_OK, UINT64_MAX, "" },
		{ "18446744073709551616 ", false, JP_NUMBER_TOO_BIG, 0, " " },
		{ "99999999999999999999999999]", false, JP_NUMBER_TOO_BIG, 0, "]" },
		{ "ffffffffffffffff-", true, JP_NUMBER_OK, UINT64_MAX, "-" },
		{ "10000000000000000", true, JP_NUMBER_TOO_BIG, 0, "" },
		{ "00000000000000000000000000001", true, JP_NUMBER_OK, 1, "" },
		{ "", false, JP_NUMBER_NONE, 0, "" },
		{ "-1", false, JP_NUMBER_NONE, 0, "-1" },
		{ "+1", false, JP_NUMBER_NONE, 0, "+1" },
		{ " 1", false, JP_NUMBER_NONE, 0, " 1" },
		{ "xyz", true, JP_NUMBER_NONE, 0, "xyz" },
		{ "a", false, JP_NUMBER_NONE, 0, "a" },
	};
	for (size_t i = 0; i < jp_count(cases); i++) {
		struct jp_span span = { cases[i].text, strlen(cases[i].text) };
		uint64_t value = 12345;
		enum jp_number what = cases[i].hex ? jp_span_hex(&span, &value) : jp_span_decimal(&span, &value);
		assert_int_equal(what, cases[i].what);
		if (what == JP_NUMBER_OK)
			assert_int_equal(value, cases[i].value);
		assert_int_equal(span.len, strlen(cases[i].rest));
		assert_memory_equal(span.ptr, cases[i].rest, span.len);
	}
}

/* Each byte at each place of a number of up to 20 characters, beside the C library. */
TEST(test_each_digit)
{
	int wrong = 0;
	for (size_t len = 1; len <= 20; len++)
		for (size_t at = 0; at < len; at++)
			for (int byte = 1; byte < 256; byte++) {
				char text[32] = "123456789abcdefABCDEF", end;
				text[at] = (char)byte;
				text[len] = '\0';
				size_t digits = strspn(text, "0123456789abcdefABCDEF"), zeros = strspn(text, "0");
				struct jp_span span = { text, len };
				uint64_t value = 0;
				enum jp_number what = jp_span_hex(&span, &value);
				end = text[digits];
				text[digits] = '\0';
				if (what != (!digits               ? JP_NUMBER_NONE
				             : digits - zeros > 16 ? JP_NUMBER_TOO_BIG
				                                   : JP_NUMBER_OK) ||
				    (what == JP_NUMBER_OK && value != strtoull(text, NULL, 16)) ||
				    span.len != len - digits)
					wrong += complain("%zu characters, byte %02x at %zu, then %02x: %d", len, byte,
					                  at, end, what);
			}
	assert_int_equal(wrong, 0);
}

/* Digits behind the span's end are not its own. */
/* Each byte at each place of an address, and before and behind it, beside the reader of one number. */
TEST(test_each_byte_of_an_address)
{
	static const char sound[] = " 0x7f0123456789 0xabcdefABCDEF 0x0";
	for (size_t at = 0; at < 16; at++)
		for (int c = 0; c < 256; c++) {
			char text[sizeof sound];
			uint64_t values[3] = { 0 }, value;
			memcpy(text, sound, sizeof text);
			text[at] = (char)c;
			struct jp_span all = { text, sizeof text - 1 }, one = { text + 3, sizeof text - 4 };
			bool usual = text[0] == ' ' && text[1] == '0' && text[2] == 'x' &&
			             jp_span_hex(&one, &value) == JP_NUMBER_OK && one.ptr == text + 15 &&
			             text[15] == ' ';
			size_t n = jp_span_addresses(&all, values, jp_count(values));
			assert_int_equal(n, usual ? 2 : 0);
			assert_ptr_equal(all.ptr, text + 15 * n);
			assert_int_equal(all.len, sizeof text - 1 - 15 * n);
			if (!n)
				continue;
			assert_int_equal(values[0], value);
			assert_int_equal(values[1], 0xabcdefABCDEF);
		}
}

/* The last one, of which nothing stands behind, is left; so is what there is no room for. */
TEST(test_addresses_stop)
{
	static const char three[] = " 0x7f0000000001 0x7f0000000002 0x7f0000000003";
	uint64_t values[4];
	for (size_t len = 0; len < sizeof three; len++) {
		char *copy = malloc(len + !len); /* of this size, so that a byte too many is seen */
		assert_non_null(copy);
		memcpy(copy, three, len);
		struct jp_span span = { copy, len };
		size_t n = jp_span_addresses(&span, values, jp_count(values));
		assert_int_equal(n, len < 19 ? 0 : (len - 4) / 15);
		free(copy);
	}
	struct jp_span span = { three, sizeof three - 1 };
	assert_int_equal(jp_span_addresses(&span, values, 1), 1);
	assert_int_equal(jp_span_addresses(&span, values, 0), 0);
	assert_int_equal(values[0], 0x7f0000000001);
}

TEST(test_numbers_stop_at_the_end)
{
	struct jp_span span = { "123456", 3 };
	uint64_t value;
	assert_int_equal(jp_span_decimal(&span, &value), JP_NUMBER_OK);
	assert_int_equal(value, 123);
	assert_int_equal(span.len, 0);
}

TEST(test_pieces)
{
	struct jp_span span = { " \t@ 0x12", 8 };
	jp_span_blanks(&span);
	assert_false(jp_span_char(&span, 'x'));
	assert_true(jp_span_char(&span, '@'));
	assert_true(jp_span_starts(span, " 0x"));
	assert_false(jp_span_starts(span, " 0x12345"));
	assert_true(jp_span_ends(span, "x12"));
	assert_false(jp_span_ends(span, "xx 0x12"));
	assert_false(jp_span_text(&span, "0x"));
	assert_true(jp_span_text(&span, " 0x"));
	assert_int_equal(span.len, 2);
	span.len = 0;
	assert_false(jp_span_char(&span, '1'));
	assert_false(jp_span_text(&span, "1"));
	assert_true(jp_span_text(&span, ""));
	jp_span_blanks(&span);
	assert_int_equal(span.len, 0);
}

TEST(test_integers_of_both_byte_orders)
{
	static const unsigned char data[] = { 0x80, 0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0xff };
	struct jp_bytes little = { .data = data, .len = sizeof data };
	struct jp_bytes big = { .data = data, .len = sizeof data, .big_endian = true };
	assert_int_equal(jp_bytes_uint(&little, 8), 0xff06050403020180);
	assert_int_equal(jp_bytes_uint(&big, 8), 0x80010203040506ff);
	jp_bytes_seek(&little, 0);
	jp_bytes_seek(&big, 0);
	assert_int_equal(jp_bytes_uint(&little, 2), 0x0180);
	assert_int_equal(jp_bytes_uint(&big, 2), 0x8001);
	assert_int_equal(jp_bytes_uint(&little, 4), 0x05040302);
	assert_int_equal(jp_bytes_uint(&big, 4), 0x02030405);
	jp_bytes_seek(&big, 0);
	assert_true(jp_bytes_sint(&big, 2) == -0x7fff);
	jp_bytes_seek(&little, 7);
	assert_true(jp_bytes_sint(&little, 1) == -1);
	jp_bytes_seek(&little, 1);
	assert_true(jp_bytes_sint(&little, 4) == 0x04030201);
	jp_bytes_seek(&little, 0);
	assert_true(jp_bytes_sint(&little, 8) == (int64_t)0xff06050403020180);
	assert_false(little.bad || big.bad);
}

TEST(test_past_the_end)
{
	static const unsigned char data[] = { 1, 2, 3 };
	struct jp_bytes b = { .data = data, .len = sizeof data };
	assert_int_equal(jp_bytes_uint(&b, 4), 0);
	assert_true(b.bad);
	assert_int_equal(jp_bytes_uint(&b, 1), 0); /* stays so */
	b = (struct jp_bytes){ .data = data, .len = sizeof data };
	jp_bytes_seek(&b, 3);
	assert_false(b.bad);
	assert_int_equal(jp_bytes_uint(&b, 1), 0);
	assert_true(b.bad);
	b = (struct jp_bytes){ .data = data, .len = sizeof data };
	jp_bytes_seek(&b, 4);
	assert_true(b.bad);
	b = (struct jp_bytes){ .data = data, .len = sizeof data };
	jp_bytes_seek(&b, UINT64_MAX);
	assert_true(b.bad);
}

/* Values from the DWARF standard, 7.6 (tables of LEB128 examples), and the ends of the range. */
TEST(test_leb128)
{
	static const struct {
		unsigned char bytes[10];
		size_t len;
		bool is_signed;
		int64_t value;
	} cases[] = {
		{ { 2 }, 1, false, 2 },
		{ { 127 }, 1, false, 127 },
		{ { 0x80, 1 }, 2, false, 128 },
		{ { 1 + 0x80, 1 }, 2, false, 129 },
		{ { 57 + 0x80, 100 }, 2, false, 12857 },
		{ { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 }, 10, false, -1 },
		{ { 2 }, 1, true, 2 },
		{ { 0x7e }, 1, true, -2 },
		{ { 127 + 0x80, 0 }, 2, true, 127 },
		{ { 1 + 0x80, 0x7f }, 2, true, -127 },
		{ { 0x80, 1 }, 2, true, 128 },
		{ { 0x80, 0x7f }, 2, true, -128 },
		{ { 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f }, 10, true, INT64_MIN },
	};
	for (size_t i = 0; i < jp_count(cases); i++) {
		struct jp_bytes b = { .data = cases[i].bytes, .len = cases[i].len };
		int64_t value = cases[i].is_signed ? jp_bytes_sleb(&b) : (int64_t)jp_bytes_uleb(&b);
		assert_true(value == cases[i].value);
		assert_int_equal(b.pos, cases[i].len);
		assert_false(b.bad);
	}
}

TEST(test_leb128_that_does_not_end)
{
	static const unsigned char data[] = { 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b, 0 };
	static const size_t lengths[] = { 0, 1, 2, 9, sizeof data };
	for (size_t i = 0; i < jp_count(lengths); i++) {
		struct jp_bytes b = { .data = data, .len = lengths[i] };
		assert_int_equal(jp_bytes_uleb(&b), 0);
		assert_true(b.bad);
		b = (struct jp_bytes){ .data = data, .len = lengths[i] };
		assert_true(jp_bytes_sleb(&b) == 0);
		assert_true(b.bad);
	}
}

TEST(test_strings)
{
	static const unsigned char data[] = "zR\0\0no end";
	struct jp_bytes b = { .data = data, .len = sizeof data - 1 };
	assert_string_equal(jp_bytes_cstr(&b), "zR");
	assert_string_equal(jp_bytes_cstr(&b), "");
	assert_int_equal(b.pos, 4);
	assert_null(jp_bytes_cstr(&b));
	assert_true(b.bad);
	assert_null(jp_bytes_cstr(&b));
}
