#include "run/mallconf.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/shortage.h"

static const char blanks[] = " \t\r\n";

bool conf_next(const char **conf, struct conf_pair *pair)
{
	const char *at = *conf;
	if (!*at)
		return false;
	size_t len = strcspn(at, ","), key = strcspn(at, ":,");
	*pair = (struct conf_pair){ .key = at, .key_len = key };
	if (key < len) {
		pair->value = at + key + 1;
		pair->value_len = len - key - 1;
	}
	*conf = at + len + (at[len] == ',');
	return true;
}

static size_t pair_len(const struct conf_pair *p)
{
	return p->value ? (size_t)(p->value - p->key) + p->value_len : p->key_len;
}

static bool is_conf_blank(char c)
{
	return c && strchr(blanks, c);
}

/* The pair's text without the blanks around it. */
static const char *trim_pair(const struct conf_pair *p, size_t *len)
{
	const char *start = p->key, *end = start + pair_len(p);
	while (start < end && is_conf_blank(*start))
		start++;
	while (start < end && is_conf_blank(end[-1]))
		end--;
	*len = (size_t)(end - start);
	return start;
}

bool conf_has_blanks(const char *conf)
{
	struct conf_pair p;
	size_t len;
	while (conf_next(&conf, &p)) {
		trim_pair(&p, &len);
		if (len != pair_len(&p))
			return true;
	}
	return false;
}

bool conf_get(const char *conf, const char *key, char *value, size_t size)
{
	struct conf_pair p;
	size_t len, n = strlen(key);
	bool found = false;
	while (conf_next(&conf, &p)) {
		const char *text = trim_pair(&p, &len);
		if (len <= n || strncmp(text, key, n) || text[n] != ':')
			continue;
		snprintf(value, size, "%.*s", (int)(len - n - 1), text + n + 1);
		found = true;
	}
	return found;
}

char *conf_tidy(const char *conf)
{
	char *copy = shortage_note(malloc(strlen(conf) + 1)), *to = copy;
	struct conf_pair p;
	size_t len;
	if (!copy)
		return NULL;
	while (conf_next(&conf, &p)) {
		const char *text = trim_pair(&p, &len);
		if (!len)
			continue;
		if (to != copy)
			*to++ = ',';
		memcpy(to, text, len);
		to += len;
	}
	*to = '\0';
	return copy;
}

static bool is(const struct conf_pair *p, const char *key)
{
	return p->key_len == strlen(key) && !memcmp(p->key, key, p->key_len);
}

/* What stands in place of a value that would make dumps, or NULL. */
static const char *instead(const struct conf_pair *p)
{
	if (!p->value)
		return NULL;
	static const char *const writes[] = { "prof_final", "prof_gdump", "prof_log" };
	char *end;
	for (size_t i = 0; i < sizeof writes / sizeof *writes; i++)
		if (is(p, writes[i]) && p->value_len == 4 && !memcmp(p->value, "true", 4))
			return "false";
	if (!is(p, "lg_prof_interval") || !p->value_len)
		return NULL;
	strtoimax(p->value, &end, 0); /* as jemalloc reads numbers: 0x1e, 036 and +30 are some, too */
	return end == p->value + p->value_len ? "-1" : NULL;
}

char *conf_harmless(const char *conf)
{
	struct jp_strbuf copy = { 0 };
	struct conf_pair p;
	while (conf_next(&conf, &p)) {
		const char *other = instead(&p);
		if (other)
			jp_strbuf_printf(&copy, "%.*s:%s", (int)p.key_len, p.key, other);
		else
			jp_strbuf_add(&copy, p.key, pair_len(&p));
		jp_strbuf_str(&copy, p.key[pair_len(&p)] == ',' ? "," : "");
	}
	return shortage_take(&copy);
}
