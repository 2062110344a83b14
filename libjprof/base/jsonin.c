#include "base/jsonin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/array.h"
#include "base/error.h"
#include "base/jsonpull.h"
#include "base/search.h"

enum { most_json = 64 << 20 };

/* A value. Of an array and an object the values in it, those of an object in the order of their keys. */
struct jprof_json {
	const char *key; /* of a member of an object, `key_len` bytes, which may be NULs */
	union {
		const char *text; /* of a text, what it means; of a number or a word, what stands there */
		const struct jprof_json *values;
	};
	uint32_t len; /* of the text, in bytes; of the values, how many */
	unsigned key_len : 28;
	unsigned token : 4; /* enum jp_json_token */
};

/* What jp_json_parse gives. */
struct json_root {
	struct jprof_json value; /* first, so that its address is this one's */
	struct jp_arena arena;
};

/* Reading it. A value of an open array or object lies in `values` until that is closed. */
struct json_builder {
	struct jp_jsonpull pull;
	struct jp_arena *arena;
	struct jprof_json *values;
	size_t count, cap;
	size_t begins[jp_json_levels]; /* of each level that is open, in `values`: behind the value that is open */
};

static void release_builder(struct json_builder *b)
{
	free(b->values);
}

void jp_json_release(struct jprof_json **value)
{
	struct json_root *root = (struct json_root *)*value;
	if (root)
		jp_arena_release(&root->arena);
	free(root);
	*value = NULL;
}

/* ---- reading ---------------------------------------------------------------------------------------------- */

static int compare_json_keys(const char *a, size_t a_len, const char *b, size_t b_len)
{
	return jp_order_by(a_len, b_len, a_len ? memcmp(a, b, a_len) : 0);
}

/* Of equal keys the later one comes first: their texts lie in the order in which they were read. */
static int compare_members(const void *a, const void *b)
{
	const struct jprof_json *x = a, *y = b;
	int order = compare_json_keys(x->key, x->key_len, y->key, y->key_len);
	return order ? order : (x->key < y->key) - (x->key > y->key);
}

/* Puts the values of the level that ends behind their array or object, to its end. */
static int close_level(struct json_builder *b)
{
	size_t begin = b->begins[b->pull.depth], count = b->count - begin;
	struct jprof_json *holder = &b->values[begin - 1], *values = NULL;
	if (count && !(values = jp_arena_alloc(b->arena, count * sizeof *values)))
		return -1;
	if (count)
		memcpy(values, holder + 1, count * sizeof *values);
	if (count && holder->token == JP_JSON_OBJECT)
		qsort(values, count, sizeof *values, compare_members);
	holder->values = values;
	holder->len = (uint32_t)count;
	b->count = begin;
	return 0;
}

/* The text as the pulling reader left it lies in our own copy: what it means is put in its place, and a NUL behind. */
static const char *settle_text(const struct jp_json_text *text, size_t *len)
{
	char *to = (char *)(uintptr_t)text->raw.ptr;
	*len = text->escaped ? jp_json_decode(text, to) : text->raw.len;
	to[*len] = '\0';
	return to;
}

/* 0, or -1 when memory is short. */
static int add_json_value(struct json_builder *b, enum jp_json_token token, char **end)
{
	struct jprof_json value = { .token = token };
	size_t len;
	if (b->pull.key.raw.ptr) {
		value.key = settle_text(&b->pull.key, &len);
		value.key_len = (unsigned)len & ((1U << 28) - 1);
	}
	if (token == JP_JSON_TEXT) {
		value.text = settle_text(&b->pull.text, &len);
		value.len = (uint32_t)len;
	} else if (token < JP_JSON_TEXT) {
		*end = (char *)(uintptr_t)b->pull.rest.ptr;
		value.len = (uint32_t)(token == JP_JSON_NUMBER ? b->pull.text.raw.len : token == JP_JSON_FALSE ? 5 : 4);
		value.text = *end - value.len;
	}
	if (jp_array_push(b->values, b->count, b->cap))
		return -1;
	b->values[b->count++] = value;
	if (token > JP_JSON_TEXT)
		b->begins[b->pull.depth - 1] = b->count;
	return 0;
}

/* The NUL behind a number or a word has to wait: what stands there is read next. */
static int build_values(struct json_builder *b, const char *name, struct jprof_error *err)
{
	for (char *end = NULL;;) {
		enum jp_json_token token = jp_jsonpull_next(&b->pull);
		if (end && token != JP_JSON_BAD)
			*end = '\0';
		end = NULL;
		if (token == JP_JSON_END)
			return 0;
		if (token == JP_JSON_BAD)
			return jp_jsonpull_error(&b->pull, name, 0, err);
		if (token == JP_JSON_CLOSE ? close_level(b) : add_json_value(b, token, &end))
			return jp_error_nomem(err);
	}
}

int jp_json_parse(const void *data, size_t len, const char *name, struct jprof_json **value, struct jprof_error *err)
{
	struct json_builder jp_cleanup(release_builder) b = { .count = 0 };
	if (len > most_json)
		return jp_error(err, JPROF_E_UNSUPPORTED, name, 0, "is JSON of more than %d MB", most_json >> 20);
	struct json_root *root = calloc(1, sizeof *root);
	struct jprof_json *made = root ? &root->value : NULL;
	char *text = root ? jp_arena_dup(&root->arena, data, len) : NULL;
	int rc = text ? 0 : jp_error_nomem(err);
	if (!rc) {
		b.arena = &root->arena;
		jp_jsonpull_init(&b.pull, (struct jp_span){ text, len });
		rc = build_values(&b, name, err);
	}
	if (!rc && b.values->token == JP_JSON_NULL)
		rc = jp_error(err, JPROF_E_FORMAT, name, 0, "is no JSON: null is no value here");
	if (rc) {
		jp_json_release(&made);
		return rc;
	}
	root->value = *b.values;
	*value = made;
	return 0;
}

/* ---- looking ---------------------------------------------------------------------------------------------- */

static jp_json *if_any(jp_json *value)
{
	return value->token == JP_JSON_NULL ? NULL : value;
}

/* The first member whose key is not below. */
jp_json *jp_json_get(jp_json *object, const char *key)
{
	size_t len = strlen(key), low = 0, high = object && object->token == JP_JSON_OBJECT ? object->len : 0;
	size_t count = high;
	while (low < high) {
		size_t mid = low + (high - low) / 2;
		jp_json *m = &object->values[mid];
		if (compare_json_keys(m->key, m->key_len, key, len) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == count || compare_json_keys(object->values[low].key, object->values[low].key_len, key, len) != 0)
		return NULL;
	return if_any(&object->values[low]);
}

size_t jp_json_length(jp_json *array)
{
	return array && array->token == JP_JSON_ARRAY ? array->len : 0;
}

jp_json *jp_json_at(jp_json *array, size_t i)
{
	return i < jp_json_length(array) ? if_any(&array->values[i]) : NULL;
}

static const char *text_of_json(jp_json *value, enum jp_json_token token)
{
	return value && value->token == token && strlen(value->text) == value->len ? value->text : NULL;
}

const char *jp_json_text(jp_json *object, const char *key)
{
	return text_of_json(jp_json_get(object, key), JP_JSON_TEXT);
}

static struct jp_span digits_of(jp_json *value)
{
	const char *text = text_of_json(value, JP_JSON_NUMBER);
	return text ? (struct jp_span){ text, value->len } : (struct jp_span){ "", 0 };
}

uint64_t jp_json_number(jp_json *object, const char *key)
{
	uint64_t number;
	return jp_json_to_uint(digits_of(jp_json_get(object, key)), &number) ? number : 0;
}

int64_t jp_json_seconds(jp_json *object, const char *key)
{
	double seconds = jprof_json_number(jp_json_get(object, key));
	return seconds >= 1 && seconds < 0x1p53 ? (int64_t)seconds : 0;
}

bool jp_json_hex(jp_json *object, const char *key, uint64_t *value)
{
	const char *text = jp_json_text(object, key);
	struct jp_span span = { text, text ? strlen(text) : 0 };
	return text && jp_span_text(&span, "0x") && jp_span_hex(&span, value) == JP_NUMBER_OK && !span.len;
}

bool jp_json_true(jp_json *object, const char *key)
{
	jp_json *value = jp_json_get(object, key);
	return value && value->token == JP_JSON_TRUE;
}

/* ---- for programs ----------------------------------------------------------------------------------------- */

int jprof_json_read(const char *text, size_t len, const char *name, struct jprof_json **json, struct jprof_error *err)
{
	if (jp_null(err, text, name, json))
		return JPROF_E_ARGUMENT;
	return jp_json_parse(text, len, name, json, err);
}

void jprof_json_free(struct jprof_json *json)
{
	jp_json_release(&json);
}

const struct jprof_json *jprof_json_get(const struct jprof_json *object, const char *key)
{
	return key ? jp_json_get(object, key) : NULL;
}

const struct jprof_json *jprof_json_at(const struct jprof_json *array, size_t i)
{
	return jp_json_at(array, i);
}

size_t jprof_json_count(const struct jprof_json *array)
{
	return jp_json_length(array);
}

const char *jprof_json_string(const struct jprof_json *value)
{
	return value && value->token <= JP_JSON_TEXT ? text_of_json(value, value->token) : NULL;
}

double jprof_json_number(const struct jprof_json *value)
{
	struct jp_span digits = digits_of(value);
	double number;
	return digits.len && jp_json_to_double(digits, &number) ? number : NAN;
}
