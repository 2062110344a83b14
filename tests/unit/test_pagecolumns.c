/* Columns of numbers behind a page's JSON: what tests/browser/script.js reads. */
#include "harness.h"
#include "render/pagecolumns.h"

static uint32_t id_in_array(const void *of, size_t i)
{
	return ((const uint32_t *)of)[i];
}

static void column_is(const struct jp_page_columns *columns, uint32_t id, const void *bytes, size_t size)
{
	assert_false(columns->failed);
	assert_int_equal(jp_intern_len(&columns->list, id), size);
	assert_memory_equal(jp_intern_get(&columns->list, id), bytes, size);
}

/* Whole numbers, negative ones, hundredths, those that no varint has, none at all, and ids. */
TEST(test_forms)
{
	struct jp_page_columns columns = { 0 };
	const double whole[] = { 5, 128.4, 65534.5 }, less[] = { -0.016, 1, -0.001 }, large[] = { -0x1p60, 1.5 };
	const uint32_t ids[] = { 5, 6, 5, 5 };
	static const unsigned char wholes[] = { 0, 1, 3, 5, 0x80, 1, 0xff, 0xff, 3 };
	static const unsigned char lesses[] = { 1, 100, 3, 3, 0xc8, 1, 0 };
	static const unsigned char larges[] = { 2, 1, 2, 0, 0, 0, 0, 0, 0, 0xb0, 0xc3, 0, 0, 0, 0, 0, 0, 0, 0x40 };
	static const unsigned char steps[] = { 3, 1, 4, 10, 2, 1, 0 }, none[] = { 0, 1, 0 },
				   plain[] = { 0, 1, 4, 5, 6, 5, 5 };
	column_is(&columns, jp_page_numbers(&columns, 1, jp_count(whole), whole), wholes, sizeof wholes);
	column_is(&columns, jp_page_numbers(&columns, 100, jp_count(less), less), lesses, sizeof lesses);
	column_is(&columns, jp_page_numbers(&columns, 1, jp_count(large), large), larges, sizeof larges);
	column_is(&columns, jp_page_ids(&columns, true, jp_count(ids), id_in_array, ids), steps, sizeof steps);
	column_is(&columns, jp_page_numbers(&columns, 1, 0, whole), none, sizeof none);
	column_is(&columns, jp_page_ids(&columns, false, jp_count(ids), id_in_array, ids), plain, sizeof plain);
	jp_page_columns_release(&columns);
}

/* What is no number is 0, and columns that are alike are one; long ones come in pieces. */
TEST(test_alike)
{
	enum { many = 1000 };
	struct jp_page_columns columns = { 0 };
	double odd[] = { 0.0 / 0.0, 1.0 / 0.0, 3 }, zeros[many] = { 0 };
	uint32_t first = jp_page_numbers(&columns, 1, jp_count(odd), odd);
	assert_int_equal(jp_intern_len(&columns.list, first), 3 + 3 * sizeof(double));
	assert_memory_equal(jp_intern_get(&columns.list, first) + 3, &zeros, 2 * sizeof(double));
	uint32_t second = jp_page_numbers(&columns, 1, many, zeros);
	assert_int_equal(jp_intern_len(&columns.list, second), 4 + many);
	assert_int_equal(jp_page_numbers(&columns, 1, many, zeros), second);
	jp_page_columns_release(&columns);
}
