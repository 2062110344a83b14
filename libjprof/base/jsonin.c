#include "base/jsonin.h"

#include <json-c/json.h>
#include <limits.h>
#include <string.h>

#include "base/error.h"
#include "base/reader.h"
#include "base/strbuf.h"

enum { most_json = 64 << 20, most_levels = 32 };

static void release_tokener(struct json_tokener **tokener)
{
	if (*tokener)
		json_tokener_free(*tokener);
}

void jp_json_release(struct json_object **value)
{
	json_object_put(*value);
	*value = NULL;
}

/* What follows the value must be blanks. */
static bool is_json_blank(const char *text, size_t len)
{
	return strspn(text, " \t\r\n") >= len;
}

int jp_json_parse(const void *data, size_t len, const char *name, struct json_object **value, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	struct json_tokener *jp_cleanup(release_tokener) tokener = json_tokener_new_ex(most_levels);
	if (len > most_json)
		return jp_error(err, JPROF_E_UNSUPPORTED, name, 0, "is JSON of more than %d MB", most_json >> 20);
	jp_strbuf_add(&text, data, len);
	if (!tokener || text.failed)
		return jp_error_nomem(err);
	/* The NUL that follows ends a number at the end. */
	struct json_object *found = json_tokener_parse_ex(tokener, text.text, (int)len + 1);
	enum json_tokener_error fault = json_tokener_get_error(tokener);
	size_t end = json_tokener_get_parse_end(tokener);
	if (fault == json_tokener_success && found && (end >= len || is_json_blank(text.text + end, len - end))) {
		*value = found;
		return 0;
	}
	json_object_put(found);
	return jp_error(err, JPROF_E_FORMAT, name, 0, "is no JSON: %s at byte %zu",
	                fault == json_tokener_success ? "not one value" : json_tokener_error_desc(fault), end);
}

/* json-c's functions that only look take no const. */
static struct json_object *loose(jp_json *value)
{
	return (struct json_object *)(uintptr_t)value;
}

jp_json *jp_json_get(jp_json *object, const char *key)
{
	struct json_object *value = NULL;
	if (object && json_object_is_type(object, json_type_object))
		json_object_object_get_ex(object, key, &value);
	return value;
}

size_t jp_json_length(jp_json *array)
{
	return array && json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

jp_json *jp_json_at(jp_json *array, size_t i)
{
	return i < jp_json_length(array) ? json_object_array_get_idx(array, i) : NULL;
}

const char *jp_json_text(jp_json *object, const char *key)
{
	jp_json *value = jp_json_get(object, key);
	if (!value || !json_object_is_type(value, json_type_string))
		return NULL;
	const char *text = json_object_get_string(loose(value));
	return text && strlen(text) == (size_t)json_object_get_string_len(value) ? text : NULL;
}

uint64_t jp_json_number(jp_json *object, const char *key)
{
	jp_json *value = jp_json_get(object, key);
	return value && json_object_is_type(value, json_type_int) ? json_object_get_uint64(value) : 0;
}

int64_t jp_json_seconds(jp_json *object, const char *key)
{
	jp_json *value = jp_json_get(object, key);
	bool number =
	    value && (json_object_is_type(value, json_type_int) || json_object_is_type(value, json_type_double));
	double seconds = number ? json_object_get_double(value) : 0;
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
	return value && json_object_is_type(value, json_type_boolean) && json_object_get_boolean(value);
}

char *jp_json_print(jp_json *value)
{
	const char *text = value ? json_object_to_json_string_ext(loose(value), JSON_C_TO_STRING_PLAIN) : NULL;
	return text ? strdup(text) : NULL;
}
