/* Writes JSON (RFC 8259) in UTF-8: equal values give equal bytes, whatever the locale. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

enum { JP_JSON_DEPTH = 16 };

/* A document under construction: begin with { .out = buffer }. */
struct jp_jsonout {
	struct jp_strbuf *out;
	unsigned depth;
	struct {
		char end;
		bool flat;
		bool filled;
	} level[JP_JSON_DEPTH];
};

/* Begins an object ('{') or array ('['). `key` is the member's name, a plain word, in an object and NULL in an
 * array, here and below. `flat`: all that is in it goes on one line. */
void jp_jsonout_open(struct jp_jsonout *json, const char *key, char kind, bool flat);
void jp_jsonout_close(struct jp_jsonout *json);

/* As jp_json_put_text. */
void jp_jsonout_string(struct jp_jsonout *json, const char *key, const char *s);

/* With at most 6 decimals, those that are 0 at the end left out. No number and infinite become null. */
void jp_jsonout_number(struct jp_jsonout *json, const char *key, double value, unsigned decimals);
void jp_jsonout_uint(struct jp_jsonout *json, const char *key, uint64_t value);
void jp_jsonout_bool(struct jp_jsonout *json, const char *key, bool value);
void jp_jsonout_null(struct jp_jsonout *json, const char *key);

/* Writes all that a format has, as `stats:{allocated:%ju name:%s share:%.3f}`: members by their names, { and [ that are
 * open on one line, or with a newline behind them not flat, and } and ]. Conversions are values: %s a text, %.3f a
 * number with so many decimals (%f: none), %u, %zu and %ju an integer, %i true or false. Blanks are for the eye. */
void jp_jsonout_put(struct jp_jsonout *json, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A document that was written before. */
void jp_jsonout_raw(struct jp_jsonout *json, const char *key, const struct jp_strbuf *document);

/* Writes a text with its quotes: bytes that are no UTF-8 become U+FFFD each; NULL becomes null. */
void jp_json_put_text(struct jp_strbuf *out, const char *text);

/* Writes a finite number as above, for text of other formats. */
void jp_put_decimal(struct jp_strbuf *out, double value, unsigned decimals);
