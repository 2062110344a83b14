/* JSON texts that are held whole, as values (base/jsonpull.h reads them, and what is longer; base/jsonout.h writes).
 * What is read is not trusted: its size and depth are bounded, and a value that is missing, null or of another type is
 * as if it were not there. Of two members of one name the last counts. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "jprof.h"

typedef const struct jprof_json jp_json;

/* Reads one value that fills the text, and is not null; more than 64 MB or 32 levels are refused. `name` is used in
 * messages. To be released by jp_json_release. */
int jp_json_parse(const void *data, size_t len, const char *name, struct jprof_json **value, struct jprof_error *err);
void jp_json_release(struct jprof_json **value);

/* A member of an object; NULL: there is none, or this is no object. */
jp_json *jp_json_get(jp_json *object, const char *key);

/* An array's length, 0 for anything else, and its i-th value. */
size_t jp_json_length(jp_json *array);
jp_json *jp_json_at(jp_json *array, size_t i);

/* A member that is a text without a NUL in it; else NULL. It lives as long as the object. */
const char *jp_json_text(jp_json *object, const char *key);

/* A member that is a whole number from 0 on; else 0. */
uint64_t jp_json_number(jp_json *object, const char *key);

/* A member that is a time in seconds since the epoch, its fraction cut off; else 0. */
int64_t jp_json_seconds(jp_json *object, const char *key);

/* A member that is a text "0xHEX"; false: it is not. */
bool jp_json_hex(jp_json *object, const char *key, uint64_t *value);

bool jp_json_true(jp_json *object, const char *key);
