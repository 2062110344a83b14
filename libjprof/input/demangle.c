#include "input/demangle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { max_mangled = 1 << 16, max_nesting = 32 };

bool jp_is_mangled(const char *name)
{
	return !strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2) || !strncmp(name, "__Z", 3);
}

static bool starts_with(const char *s, const char *with)
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
		if (starts_with(s, symbols[i]))
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
		if (starts_with(s, "operator") && (s == begin || !is_word(s[-1])) && !is_word(s[8])) {
			s += 8;
			s += operator_length(s);
			continue;
		}
		if (starts_with(s, "->")) {
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
		if (starts_with(s, words[i])) {
			s += strlen(words[i]);
			i = 0;
		} else {
			i++;
		}
	return s;
}

static bool ends_in_colons(const struct jp_strbuf *text)
{
	return text->len >= 2 && !strcmp(text->text + text->len - 2, "::");
}

static void shorten(const char *s, const char *end, unsigned depth, struct jp_strbuf *brief);

/* "<T as Trait>" and "<impl Trait for T>" stay, shortened inside: they tell one f from another. */
static const char *keep_shortened(const char *s, unsigned depth, struct jp_strbuf *brief)
{
	const char *end = skip_brackets(s);
	bool closed = end > s + 1 && end[-1] == '>';
	jp_strbuf_str(brief, "<");
	shorten(s + 1, closed ? end - 1 : end, depth + 1, brief);
	jp_strbuf_str(brief, closed ? ">" : "");
	return end;
}

/* What stays as it is: "(anonymous namespace)", "{lambda(int)#1}", and inside of Rust's brackets
 * types such as "(A, B)". Returns where it ends, or NULL. */
static const char *keep_whole(const char *s, unsigned depth)
{
	static const char anonymous[] = "(anonymous namespace)";
	if (starts_with(s, anonymous))
		return s + strlen(anonymous);
	return *s == '{' || (*s == '(' && depth) ? skip_brackets(s) : NULL;
}

/* Takes away what stands in brackets at `s`, with what joins it to the name before. */
static const char *drop_brackets(const char *s, struct jp_strbuf *brief)
{
	if (ends_in_colons(brief))
		jp_strbuf_cut(brief, brief->len - 2);
	while (*s == '<' && brief->len && brief->text[brief->len - 1] == ' ')
		jp_strbuf_cut(brief, brief->len - 1);
	return skip_qualifiers(skip_brackets(s));
}

static void shorten(const char *s, const char *end, unsigned depth, struct jp_strbuf *brief)
{
	const char *begin = s, *after;
	while (s < end) {
		if (starts_with(s, "operator") && (s == begin || !is_word(s[-1])) && !is_word(s[8])) {
			size_t n = 8 + operator_length(s + 8);
			jp_strbuf_add(brief, s, n);
			s += n;
		} else if ((after = keep_whole(s, depth)) || depth == max_nesting) {
			after = after && after < end ? after : end;
			jp_strbuf_add(brief, s, (size_t)(after - s));
			s = after;
		} else if (*s == '<' && (s == begin || (ends_in_colons(brief) && starts_with(s, "<impl ")))) {
			s = keep_shortened(s, depth, brief);
		} else if (*s == '(' || *s == '<') {
			s = drop_brackets(s, brief);
		} else {
			jp_strbuf_add(brief, s++, 1);
		}
	}
}

void jp_shorten(const char *full, struct jp_strbuf *brief)
{
	shorten(full, full + strlen(full), 0, brief);
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
