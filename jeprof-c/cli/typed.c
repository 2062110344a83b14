#include "cli/typed.h"

#include <string.h>

#include "cli/names.h"

static const char plain_signs[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-./+:,@%";

static void add_typed(struct typed *typed, const char *text, size_t len)
{
	size_t at = strlen(typed->text), left = typed_most - at;
	typed->failed = typed->failed || len >= left;
	if (typed->failed)
		return;
	memcpy(typed->text + at, text, len);
	typed->text[at + len] = '\0';
}

void typed_add(struct typed *typed, const char *text)
{
	add_typed(typed, text, strlen(text));
}

/* In quotes a shell takes all signs as they are; a quote itself stands between two quoted parts. */
static void add_quoted(struct typed *typed, const char *word)
{
	typed_add(typed, "'");
	for (size_t len; *word; word += len + (word[len] == '\'')) {
		len = strcspn(word, "'");
		add_typed(typed, word, len);
		if (word[len])
			typed_add(typed, "'\\''");
	}
	typed_add(typed, "'");
}

static void add_value(struct typed *typed, const char *word)
{
	typed->failed = typed->failed || !is_visible(word);
	if (*word && !word[strspn(word, plain_signs)])
		typed_add(typed, word);
	else
		add_quoted(typed, word);
}

void typed_word(struct typed *typed, const char *word)
{
	typed_add(typed, *word == '-' && word[1] ? " ./" : " ");
	add_value(typed, word);
}

void typed_option(struct typed *typed, const char *name, const char *value)
{
	if (!value)
		return;
	typed_add(typed, " --");
	typed_add(typed, name);
	typed_add(typed, "=");
	add_value(typed, value);
}

void typed_switch(struct typed *typed, const char *name, bool on)
{
	if (!on)
		return;
	typed_add(typed, " --");
	typed_add(typed, name);
}
