#include "base/jsonpull.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

void jp_jsonpull_init(struct jp_jsonpull *pull, struct jp_span json)
{
	*pull = (struct jp_jsonpull){ .rest = json, .size = json.len, .first = true };
}

int jp_jsonpull_error(const struct jp_jsonpull *pull, const char *name, unsigned line, struct jprof_error *err)
{
	return jp_error(err, JPROF_E_FORMAT, name, line, "is no JSON: %s at byte %zu", pull->fault,
	                pull->size - pull->rest.len);
}

static enum jp_json_token refuse_json(struct jp_jsonpull *pull, const char *fault)
{
	pull->fault = fault;
	return JP_JSON_BAD;
}

static void eat(struct jp_span *span, size_t n)
{
	span->ptr += n;
	span->len -= n;
}

static void eat_white(struct jp_span *span)
{
	while (span->len && (*span->ptr == ' ' || *span->ptr == '\n' || *span->ptr == '\r' || *span->ptr == '\t'))
		eat(span, 1);
}

/* ---- texts ------------------------------------------------------------------------------------------------ */

/* A bit in each byte of a word that is 0, exact up to the first of them. */
static uint64_t zero_bytes(uint64_t word)
{
	static const uint64_t ones = UINT64_C(0x0101010101010101);
	return (word - ones) & ~word & ones << 7;
}

/* How many bytes are before the first quote, backslash or NUL. */
static size_t unescaped_run(struct jp_span text)
{
	static const bool in_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	static const uint64_t ones = UINT64_C(0x0101010101010101);
	size_t i = 0;
	for (uint64_t word; in_order && text.len - i >= sizeof word; i += sizeof word) {
		memcpy(&word, text.ptr + i, sizeof word);
		uint64_t ends = zero_bytes(word) | zero_bytes(word ^ '"' * ones) | zero_bytes(word ^ '\\' * ones);
		if (ends)
			return i + (size_t)__builtin_ctzll(ends) / 8;
	}
	while (i < text.len && text.ptr[i] && text.ptr[i] != '"' && text.ptr[i] != '\\')
		i++;
	return i;
}

/* The value of the four hexadecimal digits at the front, or -1. */
static int32_t four_hex_digits(struct jp_span text)
{
	uint64_t value = 0;
	struct jp_span digits = { text.ptr, 4 };
	if (text.len < 4 || jp_span_hex(&digits, &value) != JP_NUMBER_OK || digits.len)
		return -1;
	return (int32_t)value;
}

/* Length of the escape at the front, which begins with a backslash; 0: it is none. */
static size_t escape_len(struct jp_span text)
{
	if (text.len < 2 || !text.ptr[1] || !strchr("\"\\/bfnrtu", text.ptr[1]))
		return 0;
	if (text.ptr[1] != 'u')
		return 2;
	eat(&text, 2);
	return four_hex_digits(text) < 0 ? 0 : 6;
}

/* Takes a text with its quotes off the front. */
static bool pull_text(struct jp_jsonpull *pull, struct jp_json_text *text)
{
	struct jp_span *rest = &pull->rest;
	if (!jp_span_char(rest, '"'))
		return refuse_json(pull, "a text is missing");
	*text = (struct jp_json_text){ .raw = { rest->ptr, 0 } };
	for (;;) {
		eat(rest, unescaped_run(*rest));
		if (!rest->len)
			return refuse_json(pull, "a text has no end");
		if (*rest->ptr == '"')
			break;
		size_t len = *rest->ptr ? escape_len(*rest) : 0;
		if (!len)
			return refuse_json(pull, *rest->ptr ? "a backslash is followed by what is no escape" : "a NUL");
		eat(rest, len);
		text->escaped = true;
	}
	text->raw.len = (size_t)(rest->ptr - text->raw.ptr);
	eat(rest, 1);
	return true;
}

static size_t put_utf8(uint32_t code, char *to)
{
	static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
	size_t len = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
	for (size_t i = len; i-- > 1; code >>= 6)
		to[i] = (char)(0x80 | (code & 0x3f));
	to[0] = (char)(len == 1 ? code : lead[len] | code);
	return len;
}

static bool is_half(int32_t code, int32_t first)
{
	return code >= first && code < first + 0x400;
}

/* The character of \uXXXX, or of two of them, at the front, which it takes off. */
static uint32_t take_code(struct jp_span *text)
{
	eat(text, 2);
	int32_t code = four_hex_digits(*text), second = -1;
	eat(text, 4);
	if (is_half(code, 0xd800) && jp_span_starts(*text, "\\u"))
		second = four_hex_digits((struct jp_span){ text->ptr + 2, text->len - 2 });
	if (is_half(code, 0xd800) && is_half(second, 0xdc00)) {
		eat(text, 6);
		return 0x10000 + ((uint32_t)(code - 0xd800) << 10) + (uint32_t)(second - 0xdc00);
	}
	return is_half(code, 0xd800) || is_half(code, 0xdc00) ? 0xfffd : (uint32_t)code;
}

/* Writes what the front of a text means: an escape, or the bytes before the next one. Returns how many those are. */
static size_t decode_piece(struct jp_span *text, char *to)
{
	static const char names[] = "bfnrt", meant[] = "\b\f\n\r\t";
	size_t run = unescaped_run(*text);
	if (run) {
		memmove(to, text->ptr, run);
		eat(text, run);
		return run;
	}
	if (text->ptr[1] == 'u')
		return put_utf8(take_code(text), to);
	const char *name = strchr(names, text->ptr[1]);
	*to = name ? meant[name - names] : text->ptr[1];
	eat(text, 2);
	return 1;
}

size_t jp_json_decode(const struct jp_json_text *text, char *to)
{
	struct jp_span rest = text->raw;
	size_t len = 0;
	while (rest.len)
		len += decode_piece(&rest, to + len);
	return len;
}

bool jp_json_means(const struct jp_json_text *text, const char *words)
{
	struct jp_span rest = text->raw;
	size_t len = strlen(words);
	if (!text->escaped)
		return rest.len == len && !memcmp(rest.ptr, words, len);
	while (rest.len) {
		char piece[4];
		const char *from = piece;
		size_t run = unescaped_run(rest);
		if (run) {
			from = rest.ptr;
			eat(&rest, run);
		} else {
			run = decode_piece(&rest, piece);
		}
		if (run > len || memcmp(from, words, run) != 0)
			return false;
		words += run;
		len -= run;
	}
	return !len;
}

/* ---- numbers ---------------------------------------------------------------------------------------------- */

static size_t eat_digits(struct jp_span *span)
{
	size_t n = 0;
	while (n < span->len && span->ptr[n] >= '0' && span->ptr[n] <= '9')
		n++;
	eat(span, n);
	return n;
}

static enum jp_json_token pull_number(struct jp_jsonpull *pull)
{
	struct jp_span *rest = &pull->rest;
	pull->text = (struct jp_json_text){ .raw = *rest };
	jp_span_char(rest, '-');
	if (!jp_span_char(rest, '0') && !eat_digits(rest))
		return refuse_json(pull, "a number has no digits");
	if (jp_span_char(rest, '.') && !eat_digits(rest))
		return refuse_json(pull, "a number has no digits behind its point");
	if (jp_span_char(rest, 'e') || jp_span_char(rest, 'E')) {
		if (!jp_span_char(rest, '-'))
			jp_span_char(rest, '+');
		if (!eat_digits(rest))
			return refuse_json(pull, "a number has no digits in its exponent");
	}
	pull->text.raw.len -= rest->len;
	return JP_JSON_NUMBER;
}

bool jp_json_to_uint(struct jp_span number, uint64_t *value)
{
	uint64_t n;
	if (jp_span_decimal(&number, &n) != JP_NUMBER_OK || number.len)
		return false;
	*value = n;
	return true;
}

/* What stands behind the digits: an exponent, or nothing. None beyond 100,000 matters. */
static int64_t exponent_of(struct jp_span text)
{
	enum { most = 100000 };
	uint64_t n = 0;
	eat(&text, text.len ? 1 : 0);
	bool negative = jp_span_char(&text, '-');
	jp_span_char(&text, '+');
	if (jp_span_decimal(&text, &n) == JP_NUMBER_TOO_BIG || n > most)
		n = most;
	return negative ? -(int64_t)n : (int64_t)n;
}

bool jp_json_to_double(struct jp_span number, double *value)
{
	static const uint64_t most = UINT64_MAX / 10 - 1;
	bool negative = jp_span_char(&number, '-'), fraction = false;
	uint64_t digits = 0;
	int64_t exponent = 0;
	for (; number.len && *number.ptr != 'e' && *number.ptr != 'E'; eat(&number, 1))
		if (*number.ptr == '.') {
			fraction = true;
		} else if (digits < most) {
			digits = digits * 10 + (uint64_t)(*number.ptr - '0');
			exponent -= fraction;
		} else {
			exponent += !fraction;
		}
	exponent += exponent_of(number);
	double n = digits ? (double)((long double)digits * powl(10, (long double)exponent)) : 0;
	if (!isfinite(n))
		return false;
	*value = negative ? -n : n;
	return true;
}

/* ---- what contains ---------------------------------------------------------------------------------------- */

static bool is_in_object(const struct jp_jsonpull *pull)
{
	return pull->depth && pull->inside >> (pull->depth - 1) & 1;
}

static enum jp_json_token open_level(struct jp_jsonpull *pull, bool object)
{
	if (pull->depth == jp_json_levels)
		return refuse_json(pull, "more levels than 32");
	eat(&pull->rest, 1);
	pull->inside &= ~(UINT32_C(1) << pull->depth);
	pull->inside |= (uint32_t)object << pull->depth;
	pull->depth++;
	pull->first = true;
	return object ? JP_JSON_OBJECT : JP_JSON_ARRAY;
}

static enum jp_json_token pull_word(struct jp_jsonpull *pull, const char *word, enum jp_json_token token)
{
	return jp_span_text(&pull->rest, word) ? token : refuse_json(pull, "a value is missing");
}

static enum jp_json_token take_value(struct jp_jsonpull *pull)
{
	char front = pull->rest.len ? *pull->rest.ptr : '\0';
	pull->first = false;
	switch (front) {
	case '{': return open_level(pull, true);
	case '[': return open_level(pull, false);
	case '"': return pull_text(pull, &pull->text) ? JP_JSON_TEXT : JP_JSON_BAD;
	case 't': return pull_word(pull, "true", JP_JSON_TRUE);
	case 'f': return pull_word(pull, "false", JP_JSON_FALSE);
	case 'n': return pull_word(pull, "null", JP_JSON_NULL);
	default: break;
	}
	if (front == '-' || (front >= '0' && front <= '9'))
		return pull_number(pull);
	return refuse_json(pull, pull->rest.len ? "a value is missing" : "it ends before its end");
}

/* Takes a member's name and colon. */
static bool take_key(struct jp_jsonpull *pull)
{
	if (!pull_text(pull, &pull->key))
		return false;
	eat_white(&pull->rest);
	if (!jp_span_char(&pull->rest, ':'))
		return refuse_json(pull, "a colon is missing");
	eat_white(&pull->rest);
	return true;
}

enum jp_json_token jp_jsonpull_next(struct jp_jsonpull *pull)
{
	struct jp_span *rest = &pull->rest;
	bool object = is_in_object(pull);
	if (pull->fault)
		return JP_JSON_BAD;
	pull->key.raw.ptr = NULL;
	eat_white(rest);
	if (!pull->depth && !pull->first)
		return rest->len ? refuse_json(pull, "something follows the value") : JP_JSON_END;
	bool parted = pull->first || jp_span_char(rest, ',');
	eat_white(rest);
	if (pull->depth && jp_span_char(rest, object ? '}' : ']')) {
		pull->depth--;
		pull->first = false;
		return JP_JSON_CLOSE;
	}
	if (!parted)
		return refuse_json(pull, rest->len ? "a comma is missing" : "it ends before its end");
	return object && !take_key(pull) ? JP_JSON_BAD : take_value(pull);
}

bool jp_jsonpull_skip(struct jp_jsonpull *pull)
{
	unsigned depth = pull->depth;
	enum jp_json_token token;
	do {
		token = jp_jsonpull_next(pull);
	} while (token != JP_JSON_BAD && (token != JP_JSON_CLOSE || pull->depth >= depth));
	return token == JP_JSON_CLOSE;
}
