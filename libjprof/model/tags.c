#include "model/tags.h"

static const char *const tag_words[] = { [JP_TAG_PLAIN] = NULL, [JP_TAG_ROUTE] = "route", [JP_TAG_JOB] = "job" };

/* The first byte is the kind. */
uint32_t jp_tag_id(struct jp_intern *tags, enum jp_tag_kind kind, const char *text)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) key = { 0 };
	jp_strbuf_printf(&key, "%d%s", (int)kind, text);
	return key.failed ? JP_NONE : jp_intern(tags, key.text, key.len);
}

enum jp_tag_kind jp_tag_kind(const struct jp_intern *tags, uint32_t id)
{
	return id == JP_NONE ? JP_TAG_PLAIN : (enum jp_tag_kind)(*jp_intern_get(tags, id) - '0');
}

const char *jp_tag_text(const struct jp_intern *tags, uint32_t id)
{
	return id == JP_NONE ? "" : jp_intern_get(tags, id) + 1;
}

const char *jp_tag_word(enum jp_tag_kind kind)
{
	return tag_words[kind];
}

void jp_put_tag(const struct jp_intern *tags, uint32_t id, struct jp_strbuf *out)
{
	const char *word = jp_tag_word(jp_tag_kind(tags, id));
	if (word)
		jp_strbuf_printf(out, "%s ", word);
	jp_strbuf_str(out, id == JP_NONE ? "(no tag)" : jp_tag_text(tags, id));
}
