#include "base/jsonout.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "base/tenths.h"
#include "base/utf8.h"
#include "jprof.h"

static bool put_short_escape(struct jp_strbuf *out, char c)
{
	static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
	const char *at = memchr(from, c, sizeof from - 1);
	if (!at)
		return false;
	const char escape[] = { '\\', to[at - from] };
	jp_strbuf_add(out, escape, sizeof escape);
	return true;
}

/* How many of the first bytes stand for themselves. */
static size_t plain_run(const char *s, size_t len)
{
	size_t run = jp_ascii_run(s, len);
	const char *quote = memchr(s, '"', run);
	run = quote ? (size_t)(quote - s) : run;
	const char *slash = memchr(s, '\\', run);
	return slash ? (size_t)(slash - s) : run;
}

void jp_json_put_text(struct jp_strbuf *out, const char *s)
{
	if (!s) {
		jp_strbuf_str(out, "null");
		return;
	}
	jp_strbuf_str(out, "\"");
	const char *end = s + strlen(s);
	while (*s) {
		size_t plain = plain_run(s, (size_t)(end - s)), len = plain ? plain : jp_utf8_len(s);
		if (!len)
			jp_strbuf_str(out, JP_UTF8_REPLACEMENT);
		else if (plain || len > 1)
			jp_strbuf_add(out, s, len);
		else if (!put_short_escape(out, *s))
			jp_strbuf_printf(out, "\\u%04x", (unsigned)(unsigned char)*s);
		s += len ? len : 1;
	}
	jp_strbuf_str(out, "\"");
}

static void new_line(struct jp_jsonout *j)
{
	jp_strbuf_str(j->out, "\n");
	for (unsigned i = 0; i < j->depth; i++)
		jp_strbuf_str(j->out, " ");
}

/* What stands before a value. */
static void begin_value(struct jp_jsonout *j, const char *key)
{
	if (j->depth) {
		if (j->level[j->depth - 1].filled)
			jp_strbuf_str(j->out, ",");
		if (!j->level[j->depth - 1].flat)
			new_line(j);
		j->level[j->depth - 1].filled = true;
	}
	if (key) {
		jp_strbuf_add(j->out, "\"", 1);
		jp_strbuf_str(j->out, key);
		jp_strbuf_add(j->out, "\":", 2);
	}
}

void jp_jsonout_open(struct jp_jsonout *j, const char *key, char kind, bool flat)
{
	begin_value(j, key);
	if (j->depth == JP_JSON_DEPTH) {
		j->out->failed = true;
		return;
	}
	jp_strbuf_add(j->out, &kind, 1);
	j->level[j->depth].end = kind == '{' ? '}' : ']';
	j->level[j->depth].flat = flat || (j->depth && j->level[j->depth - 1].flat);
	j->level[j->depth].filled = false;
	j->depth++;
}

void jp_jsonout_close(struct jp_jsonout *j)
{
	if (!j->depth)
		return;
	j->depth--;
	if (j->level[j->depth].filled && !j->level[j->depth].flat)
		new_line(j);
	jp_strbuf_add(j->out, &j->level[j->depth].end, 1);
	if (!j->depth)
		jp_strbuf_str(j->out, "\n");
}

void jp_jsonout_string(struct jp_jsonout *j, const char *key, const char *s)
{
	begin_value(j, key);
	jp_json_put_text(j->out, s);
}

/* A point and that many digits, without zeros at the end; nothing where all are. */
static void put_fraction(char *text, uint64_t part, unsigned decimals)
{
	for (; decimals && part % 10 == 0; decimals--)
		part /= 10;
	*text = decimals ? '.' : '\0';
	text[decimals + (decimals > 0)] = '\0';
	for (; decimals; decimals--, part /= 10)
		text[decimals] = (char)('0' + part % 10);
}

/* Writes a number; returns its end. */
static char *put_uint(char *text, uint64_t value)
{
	char digits[20], *at = digits + sizeof digits;
	do
		*--at = (char)('0' + value % 10);
	while (value /= 10);
	while (at < digits + sizeof digits)
		*text++ = *at++;
	return text;
}

/* The point is set by hand: printf's is the locale's. */
void jp_put_decimal(struct jp_strbuf *out, double value, unsigned decimals)
{
	double scale = 1, magnitude = fabs(value);
	if (magnitude < 0x1p52 && magnitude == (double)(uint64_t)magnitude) {
		char whole[24] = "-", *begin = whole + !(value < 0);
		jp_strbuf_add(out, begin, (size_t)(put_uint(whole + 1, (uint64_t)magnitude) - begin));
		return;
	}
	for (unsigned i = 0; i < decimals; i++)
		scale *= 10;
	/* From here on doubles have no decimals, and scaled they would have too many digits. */
	if (magnitude >= 0x1p52 / scale)
		decimals = 0, scale = 1;
	double scaled = round(magnitude * scale);
	char text[512];
	size_t len;
	if (decimals) {
		uint64_t rest = (uint64_t)scaled, base = (uint64_t)scale;
		len = jp_put_whole(text, sizeof text, (double)(rest / base));
		put_fraction(text + len, rest % base, decimals);
	} else
		jp_put_whole(text, sizeof text, scaled);
	jp_strbuf_str(out, value < 0 && scaled > 0 ? "-" : "");
	jp_strbuf_str(out, text);
}

void jp_jsonout_number(struct jp_jsonout *j, const char *key, double value, unsigned decimals)
{
	begin_value(j, key);
	if (isfinite(value))
		jp_put_decimal(j->out, value, decimals);
	else
		jp_strbuf_str(j->out, "null");
}

void jp_jsonout_uint(struct jp_jsonout *j, const char *key, uint64_t value)
{
	char digits[20];
	begin_value(j, key);
	jp_strbuf_add(j->out, digits, (size_t)(put_uint(digits, value) - digits));
}

void jp_jsonout_bool(struct jp_jsonout *j, const char *key, bool value)
{
	begin_value(j, key);
	jp_strbuf_str(j->out, value ? "true" : "false");
}

void jp_jsonout_null(struct jp_jsonout *j, const char *key)
{
	jp_jsonout_string(j, key, NULL);
}

/* One conversion, from behind its "%"; returns its end. */
static const char *put_converted(struct jp_jsonout *j, const char *key, const char *spec, va_list *args)
{
	unsigned decimals = *spec == '.' ? (unsigned)(spec[1] - '0') : 0;
	spec += *spec == '.' ? 2 : 0;
	switch (*spec) {
	case 's': jp_jsonout_string(j, key, va_arg(*args, const char *)); break;
	case 'f': jp_jsonout_number(j, key, va_arg(*args, double), decimals); break;
	case 'i': jp_jsonout_bool(j, key, va_arg(*args, int)); break;
	case 'u': jp_jsonout_uint(j, key, va_arg(*args, unsigned)); break;
	case 'z': jp_jsonout_uint(j, key, va_arg(*args, size_t)); return spec + 2;
	case 'j': jp_jsonout_uint(j, key, va_arg(*args, uintmax_t)); return spec + 2;
	}
	return spec + 1;
}

void jp_jsonout_put(struct jp_jsonout *j, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	while (*(fmt += strspn(fmt, " \n"))) {
		char name[32] = "";
		size_t len = 0;
		while ((isalnum((unsigned char)*fmt) || *fmt == '_' || *fmt == '.' || *fmt == '$') &&
		       len < sizeof name - 1)
			name[len++] = *fmt++;
		fmt += len > 0; /* the colon */
		const char *key = len ? name : NULL;
		char sign = *fmt++;
		if (sign == '%')
			fmt = put_converted(j, key, fmt, &args);
		else if (sign == '{' || sign == '[')
			jp_jsonout_open(j, key, sign, *fmt != '\n');
		else
			jp_jsonout_close(j);
	}
	va_end(args);
}

void jp_jsonout_raw(struct jp_jsonout *j, const char *key, const struct jp_strbuf *document)
{
	size_t len = document->len;
	begin_value(j, key);
	while (len && document->text[len - 1] == '\n')
		len--;
	if (len)
		jp_strbuf_add(j->out, document->text, len);
	else
		jp_strbuf_str(j->out, "null");
}

char *jprof_json_text(const char *text)
{
	struct jp_strbuf out = { 0 };
	jp_json_put_text(&out, text);
	if (!out.failed)
		return out.text;
	jp_strbuf_release(&out);
	return NULL;
}
