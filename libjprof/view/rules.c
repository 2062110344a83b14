#include "view/rules.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"

/* Lines, each with its end. */
static const char *const built_in[] = {
#include "rules.inc"
};

/* ---- reading ----------------------------------------------------------------------------------------------- */

static const char *keep_rule_text(struct jp_rules *r, struct jp_span text)
{
	jp_span_blanks(&text);
	while (text.len && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
		text.len--;
	return jp_arena_dup(&r->texts, text.ptr, text.len);
}

static int add_pattern(struct jp_rules *r, enum jp_rule_subject subject, uint32_t rule, struct jp_span word)
{
	if (jp_array_push(r->patterns, r->pattern_count, r->pattern_cap))
		return -1;
	struct jp_rule_pattern *pattern = &r->patterns[r->pattern_count];
	*pattern = (struct jp_rule_pattern){ .text = keep_rule_text(r, word), .rule = rule, .subject = subject };
	r->has_paths = r->has_paths || subject == JP_RULE_PATH;
	r->pattern_count += pattern->text != NULL;
	return pattern->text ? 0 : -1;
}

static int add_patterns(struct jp_rules *r, enum jp_rule_subject subject, uint32_t rule, struct jp_span line)
{
	int rc = 0;
	for (jp_span_blanks(&line); !rc && line.len; jp_span_blanks(&line)) {
		size_t n = 0;
		while (n < line.len && line.ptr[n] != ' ' && line.ptr[n] != '\t')
			n++;
		rc = add_pattern(r, subject, rule, (struct jp_span){ line.ptr, n });
		line = (struct jp_span){ line.ptr + n, line.len - n };
	}
	return rc;
}

/* "[GROUP] KIND", after its bracket; false: it is not of this form. */
static bool begin_rule(struct jp_rules *r, struct jp_span line, int *rc)
{
	const char *end = memchr(line.ptr, ']', line.len);
	struct jp_span group = { line.ptr, end ? (size_t)(end - line.ptr) : 0 };
	struct jp_span kind = { end ? end + 1 : "", end ? line.len - group.len - 1 : 0 };
	jp_span_blanks(&group);
	jp_span_blanks(&kind);
	if (!group.len || !kind.len)
		return false;
	*rc = jp_array_push(r->rules, r->count, r->cap);
	if (*rc)
		return true;
	struct jp_rule *rule = &r->rules[r->count];
	*rule = (struct jp_rule){ .group = keep_rule_text(r, group), .kind = keep_rule_text(r, kind) };
	*rc = rule->group && rule->kind ? 0 : -1;
	r->count += !*rc;
	return true;
}

/* One line; false: it is none of a file of rules. */
static bool read_rule_line(struct jp_rules *r, struct jp_span line, size_t first, int *rc)
{
	static const struct {
		const char *word;
		enum jp_rule_subject subject;
	} subjects[] = { { "fn ", JP_RULE_FUNCTION },
		         { "table ", JP_RULE_TABLE },
		         { "lib ", JP_RULE_LIBRARY },
		         { "path ", JP_RULE_PATH } };
	jp_span_blanks(&line);
	if (!line.len || *line.ptr == '#')
		return true;
	if (memchr(line.ptr, '\0', line.len)) /* no name has one, and what is behind it would be lost */
		return false;
	if (jp_span_char(&line, '['))
		return begin_rule(r, line, rc);
	if (r->count == first) {
		bool stop = jp_span_text(&line, "stop ");
		*rc = stop ? add_patterns(r, JP_RULE_FUNCTION, JP_RULE_STOP, line) : 0;
		return stop;
	}
	for (size_t i = 0; i < jp_count(subjects); i++)
		if (jp_span_text(&line, subjects[i].word)) {
			*rc = add_patterns(r, subjects[i].subject, (uint32_t)r->count - 1, line);
			return true;
		}
	struct jp_rule *rule = &r->rules[r->count - 1];
	const char **text = jp_span_text(&line, "what ") ? &rule->what
	                    : jp_span_text(&line, "do ") ? &rule->remedy
	                                                 : NULL;
	if (text)
		*rc = (*text = keep_rule_text(r, line)) ? 0 : -1;
	return text;
}

static int read_rules(struct jp_rules *r, struct jp_span text, struct jprof_error *err)
{
	struct jp_reader reader;
	struct jp_span line;
	size_t first = r->count;
	unsigned number = 1;
	int rc = 0;
	jp_reader_init(&reader, text.ptr, text.len);
	for (; jp_reader_line(&reader, &line); number++) {
		if (!read_rule_line(r, line, first, &rc))
			return jp_error(
			    err, JPROF_E_FORMAT, NULL, number,
			    "is no line of a file of rules: [GROUP] KIND, then lib, fn, table, path, what or do");
		if (rc)
			return jp_error_nomem(err);
	}
	return 0;
}

int jp_rules_read(struct jp_rules *r, struct jp_span given, bool with_built_in, struct jprof_error *err)
{
	*r = (struct jp_rules){ 0 };
	int rc = given.len ? read_rules(r, given, err) : 0;
	r->given = r->count;
	for (size_t i = 0; !rc && with_built_in && i < jp_count(built_in); i++) {
		struct jp_span line = { built_in[i], strlen(built_in[i]) - 1 };
		if (!read_rule_line(r, line, r->given, &rc) || rc)
			rc = jp_error_nomem(err);
	}
	return rc;
}

void jp_rules_release(struct jp_rules *r)
{
	jp_arena_release(&r->texts);
	free(r->rules);
	free(r->patterns);
}

/* ---- asking ------------------------------------------------------------------------------------------------ */

static bool is_named_by(const struct jp_rule_pattern *pattern, const char *name)
{
	size_t literal = strcspn(pattern->text, "*?[\\");
	return !strncmp(pattern->text, name, literal) && !fnmatch(pattern->text + literal, name + literal, 0);
}

uint32_t jp_rule_find(const struct jp_rules *r, enum jp_rule_subject subject, const char *name)
{
	enum { name_most = 512 };
	char stem[name_most];
	const char *dot = subject <= JP_RULE_TABLE ? strchr(name, '.') : NULL;
	if (dot && dot - name < name_most) {
		memcpy(stem, name, (size_t)(dot - name));
		stem[dot - name] = '\0';
		name = stem;
	}
	uint32_t found = JP_NO_RULE;
	for (size_t i = 0; i < r->pattern_count && found == JP_NO_RULE; i++)
		if (r->patterns[i].subject == subject && is_named_by(&r->patterns[i], name))
			found = r->patterns[i].rule;
	return found;
}
