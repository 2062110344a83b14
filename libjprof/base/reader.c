#include "base/reader.h"

#include <string.h>

#include "base/bytesource.h"

void jp_reader_init(struct jp_reader *reader, const void *data, size_t len)
{
	*reader = (struct jp_reader){ .rest = { data, len } };
}

void jp_reader_init_window(struct jp_reader *reader, struct jp_window *window)
{
	*reader =
	    (struct jp_reader){ .rest = { window->text + window->at, window->len - window->at }, .window = window };
}

/* False at the end. */
static bool read_on(struct jp_reader *reader)
{
	struct jp_window *w = reader->window;
	if (!w)
		return false;
	w->at = w->len - reader->rest.len;
	bool more = jp_window_more(w);
	reader->rest = (struct jp_span){ w->text + w->at, w->len - w->at };
	return more;
}

void jp_reader_peek(struct jp_reader *reader, size_t size)
{
	while (reader->rest.len < size && read_on(reader))
		continue;
}

/* The newline that ends the next line; NULL: there is none. */
static const char *find_newline(struct jp_reader *reader)
{
	const char *newline = NULL;
	size_t seen = 0;
	do {
		if (reader->rest.len > seen)
			newline = memchr(reader->rest.ptr + seen, '\n', reader->rest.len - seen);
		seen = reader->rest.len;
	} while (!newline && read_on(reader));
	return newline;
}

bool jp_reader_line(struct jp_reader *reader, struct jp_span *line)
{
	struct jp_span *rest = &reader->rest;
	const char *newline = find_newline(reader);
	if (!rest->len)
		return false;
	size_t len = newline ? (size_t)(newline - rest->ptr) : rest->len;
	*line = (struct jp_span){ rest->ptr, len };
	if (len && line->ptr[len - 1] == '\r')
		line->len--;
	reader->cut = !newline;
	reader->line++;
	len += newline ? 1 : 0;
	rest->ptr += len;
	rest->len -= len;
	return true;
}

static enum jp_number number_done(struct jp_span *span, size_t digits, uint64_t n, bool too_big, uint64_t *value)
{
	if (!digits)
		return JP_NUMBER_NONE;
	span->ptr += digits;
	span->len -= digits;
	*value = n;
	return too_big ? JP_NUMBER_TOO_BIG : JP_NUMBER_OK;
}

enum jp_number jp_span_decimal(struct jp_span *span, uint64_t *value)
{
	uint64_t n = 0;
	bool too_big = false;
	size_t i = 0;
	for (; i < span->len; i++) {
		unsigned digit = (unsigned)span->ptr[i] - '0';
		if (digit > 9)
			break;
		if (__builtin_mul_overflow(n, UINT64_C(10), &n) || __builtin_add_overflow(n, (uint64_t)digit, &n))
			too_big = true;
	}
	return number_done(span, i, n, too_big, value);
}

/* One more than the value of a hexadecimal digit; 0: no digit. */
static const unsigned char hex_digit[256] = {
	['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
	['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
	['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

/* How many of eight bytes, up to the first other one, are hexadecimal digits, and their value. Each is a byte of a
 * word. A letter has the bit 0x40: with it 9 is added to the low half, so digits are 0 to 9 and letters 10 to 15. No
 * byte carries into the next. Little-endian. */
static unsigned eight_digits(const char *text, uint64_t *value)
{
	static const uint64_t each = UINT64_C(0x0101010101010101);
	uint64_t t;
	memcpy(&t, text, sizeof t);
	uint64_t letter = t >> 6 & each, v = (t & 15 * each) + 9 * letter;
	uint64_t wrong = ((t & 0xf0 * each) | letter << 5) ^ (0x30 * each + 0x30 * letter);
	wrong |= (v & 0x10 * each) | (((v + 6 * each) >> 4 & each) ^ letter);
	unsigned digits = wrong ? (unsigned)__builtin_ctzll(wrong) / 8 : 8;
	v = __builtin_bswap64(v & 15 * each);
	v = (v | v >> 4) & UINT64_C(0x00ff00ff00ff00ff);
	v = (v | v >> 8) & UINT64_C(0x0000ffff0000ffff);
	*value = ((v | v >> 16) & UINT32_MAX) >> 4 * (8 - digits);
	return digits;
}

enum jp_number jp_span_hex(struct jp_span *span, uint64_t *value)
{
	static const bool in_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	uint64_t n = 0, lost = 0, eight;
	size_t i = 0;
	unsigned found = 8;
	for (; found == 8 && in_order && span->len - i >= 8; i += found) {
		found = eight_digits(span->ptr + i, &eight);
		lost |= n >> (32 - 4 * found) >> 32;
		n = n << 4 * found | eight;
	}
	for (; found == 8 && i < span->len; i++) {
		unsigned digit = hex_digit[(unsigned char)span->ptr[i]];
		if (!digit)
			break;
		lost |= n >> 60;
		n = n << 4 | (digit - 1);
	}
	return number_done(span, i, n, lost, value);
}

static void span_eat(struct jp_span *span, size_t n)
{
	span->ptr += n;
	span->len -= n;
}

/* The value of twelve hexadecimal digits with a blank behind them; 16 bytes are read. False if something else stands
 * there. Each byte is looked at by itself; then two digits each make a byte of the value. Little-endian. */
static bool twelve_digits(const char *text, uint64_t *value)
{
	typedef uint8_t bytes __attribute__((vector_size(16)));
	typedef uint16_t pairs __attribute__((vector_size(16)));
	typedef uint64_t words __attribute__((vector_size(16)));
	typedef uint8_t half __attribute__((vector_size(8)));
	bytes t;
	memcpy(&t, text, sizeof t);
	bytes digit = t - '0', letter = (t | 0x20) - 'a', digits = (bytes)(digit < 10), letters = (bytes)(letter < 6);
	words wrong = (words) ~(digits | letters);
	pairs two = (pairs)((digit & digits) | ((letter + 10) & letters));
	half joined = __builtin_convertvector((two << 4 | two >> 8) & 255, half);
	memcpy(value, &joined, sizeof joined);
	*value = __builtin_bswap64(*value) >> 16;
	return !(wrong[0] | (wrong[1] & UINT32_MAX)) && text[12] == ' ';
}

size_t jp_span_addresses(struct jp_span *span, uint64_t *values, size_t most)
{
	static const bool in_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	enum { before = 3, length = before + 12, needed = before + 16 };
	size_t n = 0;
	for (; in_order && n < most && span->len >= needed && !memcmp(span->ptr, " 0x", before); n++) {
		if (!twelve_digits(span->ptr + before, &values[n]))
			break;
		span_eat(span, length);
	}
	return n;
}

void jp_span_blanks(struct jp_span *span)
{
	while (span->len && (*span->ptr == ' ' || *span->ptr == '\t'))
		span_eat(span, 1);
}

bool jp_span_char(struct jp_span *span, char c)
{
	if (!span->len || *span->ptr != c)
		return false;
	span_eat(span, 1);
	return true;
}

struct jp_span jp_span_field(struct jp_span *span)
{
	const char *tab = span->len ? memchr(span->ptr, '\t', span->len) : NULL;
	struct jp_span field = { span->ptr, tab ? (size_t)(tab - span->ptr) : span->len };
	size_t eaten = field.len + (tab != NULL);
	*span = (struct jp_span){ span->ptr + eaten, span->len - eaten };
	return field;
}

bool jp_span_starts(struct jp_span span, const char *text)
{
	size_t n = strlen(text);
	return span.len >= n && !memcmp(span.ptr, text, n);
}

bool jp_span_ends(struct jp_span span, const char *text)
{
	size_t n = strlen(text);
	return span.len >= n && !memcmp(span.ptr + span.len - n, text, n);
}

bool jp_span_text(struct jp_span *span, const char *text)
{
	if (!jp_span_starts(*span, text))
		return false;
	span_eat(span, strlen(text));
	return true;
}

void jp_bytes_seek(struct jp_bytes *bytes, uint64_t pos)
{
	if (pos > bytes->len)
		bytes->bad = true;
	else
		bytes->pos = (size_t)pos;
}

uint64_t jp_bytes_uint(struct jp_bytes *bytes, unsigned size)
{
	if (bytes->bad || size > bytes->len - bytes->pos) {
		bytes->bad = true;
		return 0;
	}
	uint64_t value = 0;
	const unsigned char *from = bytes->data + bytes->pos;
	bytes->pos += size;
	if (size == 1)
		return *from;
	if (bytes->big_endian || size == 2) {
		for (unsigned i = 0; i < size; i++)
			value = value << 8 | from[bytes->big_endian ? i : size - 1 - i];
		return value;
	}
	value = jp_little_word(from); /* most numbers are */
	return size == 8 ? value | (uint64_t)jp_little_word(from + 4) << 32 : value;
}

int64_t jp_bytes_sint(struct jp_bytes *bytes, unsigned size)
{
	uint64_t value = jp_bytes_uint(bytes, size);
	if (size < 8 && value >> (size * 8 - 1) & 1)
		value |= UINT64_MAX << (size * 8);
	return (int64_t)value;
}

uint64_t jp_bytes_uleb(struct jp_bytes *bytes)
{
	uint64_t value = 0;
	if (!bytes->bad && bytes->pos < bytes->len && bytes->data[bytes->pos] < 0x80)
		return bytes->data[bytes->pos++]; /* most numbers are */
	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t byte = jp_bytes_uint(bytes, 1);
		value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return bytes->bad ? 0 : value;
	}
	bytes->bad = true;
	return 0;
}

int64_t jp_bytes_sleb(struct jp_bytes *bytes)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t byte = jp_bytes_uint(bytes, 1);
		value |= (byte & 0x7f) << shift;
		if (byte & 0x80)
			continue;
		if (bytes->bad)
			return 0;
		if (byte & 0x40 && shift + 7 < 64)
			value |= UINT64_MAX << (shift + 7);
		return (int64_t)value;
	}
	bytes->bad = true;
	return 0;
}

const char *jp_bytes_cstr(struct jp_bytes *bytes)
{
	const char *start = (const char *)bytes->data + bytes->pos;
	const char *nul = bytes->bad || bytes->pos == bytes->len ? NULL : memchr(start, '\0', bytes->len - bytes->pos);
	if (!nul) {
		bytes->bad = true;
		return NULL;
	}
	bytes->pos += (size_t)(nul - start) + 1;
	return start;
}
