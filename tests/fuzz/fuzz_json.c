/* Target: JSON. Asserts that the reader that goes token by token and the one that holds all of it take and refuse the
 * same texts, with the same words; that what a text means is no longer than what stands there; that levels add up. */
#include <stdlib.h>
#include <string.h>

#include "base/jsonin.h"
#include "base/jsonpull.h"
#include "fuzz.h"

static void check_text(const struct jp_json_text *text)
{
	char *to = malloc(text->raw.len + 1);
	must(to);
	size_t len = jp_json_decode(text, to);
	must(len <= text->raw.len && (text->escaped || len == text->raw.len));
	to[len] = '\0';
	must(jp_json_means(text, to) == (strlen(to) == len));
	free(to);
}

static void check_number(struct jp_span number)
{
	uint64_t u = 0;
	double d = 0;
	bool is_uint = jp_json_to_uint(number, &u);
	must(jp_json_to_double(number, &d) || !is_uint);
	must(!is_uint || (double)u == d || u > (uint64_t)0x1p53);
}

/* Returns the kind of the last token. */
static enum jp_json_token pull_all(struct jp_jsonpull *pull)
{
	enum jp_json_token token;
	size_t opened = 0, closed = 0;
	do {
		token = jp_jsonpull_next(pull);
		opened += token == JP_JSON_ARRAY || token == JP_JSON_OBJECT;
		closed += token == JP_JSON_CLOSE;
		must(pull->depth == opened - closed && pull->depth <= jp_json_levels);
		if (token > JP_JSON_END && pull->key.raw.ptr)
			check_text(&pull->key);
		if (token == JP_JSON_TEXT)
			check_text(&pull->text);
		if (token == JP_JSON_NUMBER)
			check_number(pull->text.raw);
	} while (token > JP_JSON_END);
	must(token == JP_JSON_BAD || (!pull->depth && !pull->rest.len));
	return token;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jp_jsonpull pull;
	struct jprof_json *value = NULL;
	struct jprof_error err = { 0 }, same = { 0 };
	jp_jsonpull_init(&pull, (struct jp_span){ (const char *)data, size });
	enum jp_json_token end = pull_all(&pull);
	int rc = jp_json_parse(data, size, "fuzz", &value, &err);
	must(!rc == (value != NULL));
	if (end == JP_JSON_BAD) {
		must(rc == JPROF_E_FORMAT && jp_jsonpull_error(&pull, "fuzz", 0, &same) == rc);
		must(!strcmp(err.text, same.text));
	} else {
		must(!rc || strstr(err.text, "null"));
	}
	jp_json_release(&value);
	return 0;
}
