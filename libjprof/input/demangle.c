#include "input/demangle.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/textparts.h"

enum { max_mangled = 1 << 16, max_nesting = 32 };

bool jp_is_mangled(const char *name)
{
	return !strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2) || !strncmp(name, "__Z", 3);
}

static bool is_word_byte(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Length of the operator's own characters after the word "operator", 0 if none follow. */
static size_t operator_length(const char *s)
{
	static const char *const symbols[] = { "()", "[]", "->*", "->", "<=>", "<<=", ">>=",
		                               "<<", ">>", "<=",  ">=", "<",   ">",   "\"\" " };
	for (size_t i = 0; i < jp_count(symbols); i++)
		if (jp_begins(s, symbols[i]))
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
		if (jp_begins(s, "operator") && (s == begin || !is_word_byte(s[-1])) && !is_word_byte(s[8])) {
			s += 8;
			s += operator_length(s);
			continue;
		}
		if (jp_begins(s, "->")) {
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
	return jp_behind_any(s, words, jp_count(words));
}

static bool ends_in_colons(const struct jp_strbuf *text)
{
	return text->len >= 2 && !strcmp(text->text + text->len - 2, "::");
}

static void shorten(const char *s, const char *end, unsigned depth, struct jp_strbuf *brief);

/* Where a word stands in [s, end) outside of all brackets; NULL. */
static const char *find_word(const char *s, const char *end, const char *word)
{
	while (s < end)
		if (jp_begins(s, word))
			return s;
		else if (jp_begins(s, "->"))
			s += 2;
		else
			s = strchr("(<[{", *s) ? skip_brackets(s) : s + 1;
	return NULL;
}

/* Whether a type is a path, and no builtin one. */
static bool is_path(const char *s, const char *end)
{
	size_t n = 0;
	while (s + n < end && is_word_byte(s[n]))
		n++;
	return n && s + n + 2 < end && jp_begins(s + n, "::");
}

/* The type that has a function without any trait: "<PATH>::f" is "PATH::f", as Rust's legacy names have it. Of a
 * builtin type the elements are left out, since there is one such function for all: "<[_]>::to_vec". */
static void add_type(const char *s, const char *end, unsigned depth, struct jp_strbuf *brief)
{
	if (is_path(s, end)) {
		shorten(s, end, depth, brief);
		return;
	}
	jp_strbuf_str(brief, "<");
	if (*s == '[')
		jp_strbuf_str(brief, find_word(s + 1, end - 1, ";") ? "[_; _]" : "[_]");
	else if (jp_begins(s, "*const ") || jp_begins(s, "*mut "))
		jp_strbuf_printf(brief, "%.*s_", (int)(strchr(s, ' ') + 1 - s), s);
	else
		shorten(s, end, depth + 1, brief);
	jp_strbuf_str(brief, ">");
}

/* "<T as Trait>" stays, shortened inside: it tells one f from another. "MODULE::<impl Trait for T>" of Rust's legacy
 * names is the same; what this call wrote before it, from `begin` on, goes. */
static const char *keep_shortened(const char *s, size_t begin, unsigned depth, struct jp_strbuf *brief)
{
	const char *after = skip_brackets(s), *type = s + 1, *trait = NULL;
	const char *end = after > s + 1 && after[-1] == '>' ? after - 1 : after, *type_end = end, *trait_end = end;
	bool impl = jp_begins(s, "<impl ");
	const char *word = find_word(type, end, impl ? " for " : " as ");
	if (impl) {
		jp_strbuf_cut(brief, begin);
		type = word ? word + strlen(" for ") : s + strlen("<impl ");
		trait = word ? s + strlen("<impl ") : NULL;
		trait_end = word;
	} else if (word) {
		type_end = word;
		trait = word + strlen(" as ");
	}
	if (!trait) {
		add_type(type, type_end, depth, brief);
		return after;
	}
	jp_strbuf_str(brief, "<");
	shorten(type, type_end, depth + 1, brief);
	jp_strbuf_str(brief, " as ");
	shorten(trait, trait_end, depth + 1, brief);
	jp_strbuf_str(brief, end < after ? ">" : "");
	return after;
}

/* Rust's closures, which legacy names do not number: where one ends, or NULL. */
static const char *skip_closure(const char *s)
{
	static const char legacy[] = "{{closure}}", v0[] = "{closure#";
	if (jp_begins(s, legacy))
		return s + strlen(legacy);
	const char *end = jp_begins(s, v0) ? strchr(s, '}') : NULL;
	return end ? end + 1 : NULL;
}

/* What stays as it is: "(anonymous namespace)", "{lambda(int)#1}", and inside of Rust's brackets
 * types such as "(A, B)". Returns where it ends, or NULL. */
static const char *keep_whole(const char *s, unsigned depth)
{
	static const char anonymous[] = "(anonymous namespace)";
	if (jp_begins(s, anonymous))
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
	size_t written = brief->len;
	while (s < end) {
		if (jp_begins(s, "operator") && (s == begin || !is_word_byte(s[-1])) && !is_word_byte(s[8])) {
			size_t n = 8 + operator_length(s + 8);
			jp_strbuf_add(brief, s, n);
			s += n;
		} else if (*s == '{' && (after = skip_closure(s))) {
			jp_strbuf_str(brief, "{closure}");
			s = after;
		} else if ((after = keep_whole(s, depth)) || depth == max_nesting) {
			after = after && after < end ? after : end;
			jp_strbuf_add(brief, s, (size_t)(after - s));
			s = after;
		} else if (*s == '<' && (s == begin || (ends_in_colons(brief) && jp_begins(s, "<impl ")))) {
			s = keep_shortened(s, written, depth, brief);
		} else if (*s == '(' || *s == '<') {
			s = drop_brackets(s, brief);
		} else {
			jp_strbuf_add(brief, s++, 1);
		}
	}
}

/* Types as v0 names have them: legacy ones have no blank behind a comma, and ".>" for "->". */
static void respell(struct jp_strbuf *brief, size_t begin)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	const char *s = brief->text + begin;
	if (!strchr(s, ',') && !strstr(s, ") .> "))
		return;
	for (const char *c = s; *c; c++) {
		bool arrow = *c == '.' && c[1] == '>' && c > s && c[-1] == ' ';
		jp_strbuf_add(&text, arrow ? "-" : c, 1);
		if (*c == ',' && c[1] && c[1] != ' ')
			jp_strbuf_add(&text, " ", 1);
	}
	brief->failed = brief->failed || text.failed;
	jp_strbuf_cut(brief, begin);
	jp_strbuf_add(brief, text.text ? text.text : "", text.len);
}

void jp_shorten(const char *full, struct jp_strbuf *brief)
{
	size_t begin = brief->len;
	shorten(full, full + strlen(full), 0, brief);
	if (brief->text)
		respell(brief, begin);
}

/* gfortran's __MODULE_MOD_PROCEDURE: where the module begins, and how long it is; 0: it is no such name. */
static size_t fortran_module(const char *name)
{
	const char *word = jp_begins(name, "__") && is_word_byte(name[2]) ? strstr(name + 3, "_MOD_") : NULL;
	return word && word[5] && name[2] != '_' && !isdigit((unsigned char)name[2]) ? (size_t)(word - name - 2) : 0;
}

void jp_demangle(const char *name, struct jp_strbuf *full, struct jp_strbuf *brief)
{
	bool mangled = jp_is_mangled(name) && strlen(name) < max_mangled;
	char *with = mangled ? jp_demangle_with_library(name, false) : NULL;
	char *without = with ? jp_demangle_with_library(name, true) : NULL;
	size_t module = mangled ? 0 : fortran_module(name);
	if (module) {
		const char *procedure = name + 2 + module + strlen("_MOD_");
		jp_strbuf_printf(full, "%.*s::%s", (int)module, name + 2, procedure);
		jp_strbuf_printf(brief, "%.*s::%s", (int)module, name + 2, procedure);
		return;
	}
	jp_strbuf_str(full, with ? with : name);
	if (with)
		jp_shorten(without ? without : with, brief);
	if (!with || (!brief->len && !brief->failed))
		jp_strbuf_str(brief, with ? with : name);
	free(with);
	free(without);
}
