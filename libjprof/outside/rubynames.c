#include "outside/rubynames.h"

#include <ctype.h>
#include <string.h>

enum {
	no_embedding = 1 << 13, /* of a string's flags: length at 16, address of its text at 24 */
	least_offset = 16,
	most_offset = 512,
	most_in_record = 64, /* of a class: up to where it may have a record's address */
	most_classes_above = 12,
	most_entries = 512,
};

const char *const jp_ruby_symbols[jp_ruby_known] = { "rb_cString", "rb_cArray", "rb_cHash",    "rb_cObject",
	                                             "rb_cModule", "rb_cClass", "rb_cInteger", "rb_cNumeric" };
enum { known_module = 4, known_class = 5, symbol_prefix = 4 };

struct class_names_search {
	struct jp_memsource *source;
	const struct jp_rubypages *pages;
	struct jp_rubynames names;
	uint64_t classes[jp_ruby_known];
};

static bool is_string(const struct class_names_search *s, uint64_t at)
{
	return jp_rubypages_type(s->source, s->pages, at) == jp_ruby_type_string;
}

bool jp_rubynames_text(struct jp_memsource *m, const struct jp_rubypages *pages, const struct jp_rubynames *names,
                       uint64_t string, char *text, size_t size)
{
	const struct jp_rubypage *page = jp_rubypages_at(pages, string);
	uint64_t words[4];
	if (jp_rubypages_type(m, pages, string) != jp_ruby_type_string ||
	    !jp_memsource_read(m, string, words, sizeof words))
		return false;
	bool outside = words[0] & no_embedding;
	uint64_t at = outside ? words[3] : string + names->text_at;
	uint64_t room = outside ? words[2] + 1 : page->slot - names->text_at;
	memset(text, 0, size);
	jp_memsource_copy(m, at, text, room < size ? (size_t)room : size);
	for (size_t i = 0; i < size; i++)
		if (!text[i])
			return i > 0;
		else if (!isgraph((unsigned char)text[i]) && text[i] != ' ')
			return false;
	return false;
}

/* Whether a string has that text; notes where strings in their slots have it. */
static bool has_text(struct class_names_search *s, uint64_t at, const char *want)
{
	char slot[jp_ruby_least_slot], text[jp_ruby_name_size];
	size_t len = strlen(want) + 1;
	if (!is_string(s, at) || !jp_memsource_read(s->source, at, slot, sizeof slot))
		return false;
	for (unsigned i = 16; !s->names.text_at && i + len <= sizeof slot; i++)
		s->names.text_at = memcmp(slot + i, want, len) ? 0 : i;
	return jp_rubynames_text(s->source, s->pages, &s->names, at, text, sizeof text) && !strcmp(text, want);
}

/* Entries of a table of Ruby's (st_table): 40 their number with freed ones, 48 where they are: { hash, key, value }.
 * That with a key, or with a string that is `want`, whose key is noted. */
static uint64_t table_entry_at_key(struct class_names_search *s, uint64_t table, const char *want)
{
	uint64_t head[2], entries[3 * 64];
	if (table % 8 || !jp_memsource_writable(s->source, table) ||
	    !jp_memsource_read(s->source, table + 40, head, sizeof head) || head[0] > most_entries)
		return 0;
	for (uint64_t i = 0; i < head[0]; i++) {
		uint64_t *e = &entries[i % 64 * 3];
		uint64_t rest = (head[0] - i < 64 ? head[0] - i : 64) * 24;
		if (i % 64 == 0 && !jp_memsource_read(s->source, head[1] + i * 24, entries, (size_t)rest))
			return 0;
		if (want && (!s->names.key || s->names.key == e[1]) && has_text(s, e[2], want)) {
			s->names.key = e[1];
			return e[2];
		}
		if (!want && e[1] == s->names.key)
			return e[2];
	}
	return 0;
}

/* The string with a class's name by the way that is being tried; with `want` the key is looked for, too. */
static uint64_t name_string(struct class_names_search *s, uint64_t class, const char *want, bool table)
{
	uint64_t at = jp_memsource_word(s->source, class + s->names.name_at);
	if (s->names.by_record)
		at = at % 8 || at < 4096 ? 0 : jp_memsource_word(s->source, at + s->names.record_at);
	return at && table ? table_entry_at_key(s, at, want) : at;
}

static bool all_are_named(struct class_names_search *s, bool table)
{
	s->names.key = 0;
	for (int i = 0; i < jp_ruby_known; i++) {
		const char *want = jp_ruby_symbols[i] + symbol_prefix;
		if (!has_text(s, name_string(s, s->classes[i], want, table), want))
			return false;
	}
	return true;
}

/* First the ways without a record, then those with one, then those with a table. */
static bool find_way(struct class_names_search *s)
{
	struct jp_rubynames *n = &s->names;
	for (n->name_at = least_offset; n->name_at < most_offset; n->name_at += 8)
		if (all_are_named(s, false))
			return true;
	n->by_record = true;
	for (int table = 0; table < 2; table++)
		for (n->name_at = least_offset; n->name_at < most_in_record; n->name_at += 8)
			for (n->record_at = 0; n->record_at < most_offset; n->record_at += 8)
				if (all_are_named(s, table))
					return true;
	return false;
}

/* Class is a Module. */
static unsigned super_offset(const struct class_names_search *s)
{
	unsigned at = least_offset;
	while (at < most_in_record * 2 &&
	       jp_memsource_word(s->source, s->classes[known_class] + at) != s->classes[known_module])
		at += 8;
	return at < most_in_record * 2 ? at : 0;
}

struct jp_rubynames jp_rubynames_learn(struct jp_memsource *m, const struct jp_rubypages *pages,
                                       const uint64_t variables[jp_ruby_known])
{
	struct class_names_search s = { .source = m, .pages = pages };
	for (int i = 0; i < jp_ruby_known; i++) {
		s.classes[i] = variables[i] ? jp_memsource_word(m, variables[i]) : 0;
		if (jp_rubypages_type(m, pages, s.classes[i]) != jp_ruby_type_class)
			return s.names;
	}
	memcpy(s.names.classes, s.classes, sizeof s.names.classes);
	s.names.super_at = super_offset(&s);
	s.names.known = s.names.super_at && find_way(&s) && s.names.text_at;
	return s.names;
}

/* A constant's path: "Shop::Order"; other alphabets have no name here. */
static bool is_class_path(const char *name)
{
	return isupper((unsigned char)*name) &&
	       strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_:") == strlen(name);
}

bool jp_rubynames_own(struct jp_memsource *m, const struct jp_rubypages *pages, const struct jp_rubynames *names,
                      uint64_t class, char name[jp_ruby_name_size])
{
	struct class_names_search s = { .source = m, .pages = pages, .names = *names };
	unsigned type = jp_rubypages_type(m, pages, class);
	return names->known && (type == jp_ruby_type_class || type == jp_ruby_type_module) &&
	       jp_rubynames_text(m, pages, names, name_string(&s, class, NULL, names->key), name, jp_ruby_name_size) &&
	       is_class_path(name);
}

bool jp_rubynames_of(struct jp_memsource *m, const struct jp_rubypages *pages, const struct jp_rubynames *names,
                     uint64_t class, char name[jp_ruby_name_size])
{
	for (int i = 0; names->known && i < most_classes_above; i++) {
		if (jp_rubypages_type(m, pages, class) == jp_ruby_type_class &&
		    jp_rubynames_own(m, pages, names, class, name))
			return true;
		class = jp_memsource_word(m, class + names->super_at);
	}
	return false;
}
