#include "input/demangle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { max_mangled = 1 << 16 };

bool jp_is_mangled(const char *name)
{
	return !strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2) || !strncmp(name, "__Z", 3);
}

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Length of the operator's own characters after the word "operator", 0 if none follow. */
static size_t operator_length(const char *s)
{
	static const char *const symbols[] = { "()", "[]", "->*", "->", "<=>", "<<=", ">>=",
		                               "<<", ">>", "<=",  ">=", "<",   ">",   "\"\" " };
	for (size_t i = 0; i < jp_count(symbols); i++)
		if (starts(s, symbols[i]))
			return strlen(symbols[i]);
	return 0;
}

/* Where the bracket that opens at `s` closes: behind it, or at the end of the text. Brackets of
 * all kinds nest; "->" and operators inside close nothing. */
static const char *skip_brackets(const char *s)
{
	size_t depth = 0;
	const char *begin = s;
	while (*s) {
		if (starts(s, "operator") && (s == begin || !is_word(s[-1])) && !is_word(s[8])) {
			s += 8;
			s += operator_length(s);
			continue;
		}
		if (starts(s, "->")) {
			s += 2;
			continue;
		}
		if (strchr("(<[{", *s))
			depth++;
		else if (strchr(")>]}", *s) && !--depth)
			return s + 1;
		s++;
	}
	return s;
}

/* What may follow a parameter list and belongs to it. */
static const char *skip_qualifiers(const char *s)
{
	static const char *const words[] = { " const", " volatile", " &&", " &", " noexcept" };
	for (size_t i = 0; i < jp_count(words);)
		if (starts(s, words[i])) {
			s += strlen(words[i]);
			i = 0;
		} else {
			i++;
		}
	return s;
}

/* "<T as Trait>" and "<impl Trait for T>" stay, shortened inside: they tell one f from another. */
static const char *keep_shortened(const char *s, struct jp_strbuf *brief)
{
	const char *end = skip_brackets(s);
	struct jp_strbuf jp_cleanup(jp_strbuf_release) inner = { 0 };
	jp_strbuf_add(&inner, s + 1, end - s >= 2 ? (size_t)(end - s) - 2 : 0);
	jp_strbuf_str(brief, "<");
	if (inner.text)
		jp_shorten(inner.text, brief);
	jp_strbuf_str(brief, ">");
	return end;
}

static bool ends_in_colons(const struct jp_strbuf *text)
{
	return text->len >= 2 && !strcmp(text->text + text->len - 2, "::");
}

void jp_shorten(const char *full, struct jp_strbuf *brief)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *s = full;
	while (*s) {
		if (starts(s, "operator") && (s == full || !is_word(s[-1])) && !is_word(s[8])) {
			size_t n = 8 + operator_length(s + 8);
			jp_strbuf_add(brief, s, n);
			s += n;
		} else if (starts(s, anonymous)) {
			jp_strbuf_str(brief, anonymous);
			s += strlen(anonymous);
		} else if (*s == '<' && (s == full || (ends_in_colons(brief) && starts(s, "<impl ")))) {
			s = keep_shortened(s, brief);
		} else if (*s == '(' || *s == '<') {
			if (ends_in_colons(brief))
				jp_strbuf_cut(brief, brief->len - 2);
			s = skip_qualifiers(skip_brackets(s));
		} else {
			jp_strbuf_add(brief, s++, 1);
		}
	}
}

void jp_demangle(const char *name, struct jp_strbuf *full, struct jp_strbuf *brief)
{
	bool mangled = jp_is_mangled(name) && strlen(name) < max_mangled;
	char *with = mangled ? jp_demangle_with_library(name, false) : NULL;
	char *without = with ? jp_demangle_with_library(name, true) : NULL;
	jp_strbuf_str(full, with ? with : name);
	if (with)
		jp_shorten(without ? without : with, brief);
	if (!with || (!brief->len && !brief->failed))
		jp_strbuf_str(brief, with ? with : name);
	free(with);
	free(without);
}
