/* JSON (RFC 8259), read in one pass: token by token, without memory of its own. What is read is not trusted: its depth
 * is bounded, and no step goes beyond its end. A file of one value a line is read by jp_reader_line and this. As many
 * writers need it, a comma may stand before the end of an array or object, and texts may hold control characters but
 * NUL, and bytes that are no UTF-8: they come out as they are. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/reader.h"
#include "jprof.h"

enum { jp_json_levels = 32 };

enum jp_json_token {
	JP_JSON_BAD, /* jp_jsonpull_error tells what is wrong; nothing follows */
	JP_JSON_END, /* the value was whole, and blanks alone follow it */
	JP_JSON_NULL,
	JP_JSON_FALSE,
	JP_JSON_TRUE,
	JP_JSON_NUMBER,
	JP_JSON_TEXT,
	JP_JSON_ARRAY, /* its values follow, and then its JP_JSON_CLOSE */
	JP_JSON_OBJECT,
	JP_JSON_CLOSE,
};

/* A text as it stands between its quotes; its escapes are correct. */
struct jp_json_text {
	struct jp_span raw;
	bool escaped; /* it has some; else it is what it means */
};

struct jp_jsonpull {
	struct jp_span rest;
	size_t size;     /* of all that is read, in bytes */
	unsigned depth;  /* arrays and objects that are open */
	uint32_t inside; /* a bit for each of them, the outermost first: it is an object */
	bool first;      /* nothing of what was opened last, or of all, was read */
	const char *fault;

	/* Of the token that came last. They live as long as what is read. */
	struct jp_json_text key;  /* of a member of an object; raw.ptr is NULL elsewhere */
	struct jp_json_text text; /* of a text; of a number raw has its digits */
};

/* One value, with nothing but blanks around it. */
void jp_jsonpull_init(struct jp_jsonpull *pull, struct jp_span json);

enum jp_json_token jp_jsonpull_next(struct jp_jsonpull *pull);

/* After JP_JSON_ARRAY or JP_JSON_OBJECT passes over what is in it, its end included. False: it is bad. */
bool jp_jsonpull_skip(struct jp_jsonpull *pull);

/* After JP_JSON_BAD: JPROF_E_FORMAT, "is no JSON: WHAT at byte N", from 0 on. `name` and `line` are those of what is
 * read, as jp_error has them. */
int jp_jsonpull_error(const struct jp_jsonpull *pull, const char *name, unsigned line, struct jprof_error *err);

/* Whether it means these words. */
bool jp_json_means(const struct jp_json_text *text, const char *words);

/* Writes what the text means, in UTF-8, to `to`, which has room for raw.len bytes and may be where the text stands.
 * Half of a surrogate pair becomes U+FFFD; \u0000 is a NUL. Returns how many bytes that are; no NUL follows them. */
size_t jp_json_decode(const struct jp_json_text *text, char *to);

/* A number's value; false: it is none of this type, or beyond its range. */
bool jp_json_to_uint(struct jp_span number, uint64_t *value);
bool jp_json_to_double(struct jp_span number, double *value);
