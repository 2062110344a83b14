#include "outside/rubyowner.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "input/maps.h"
#include "outside/rubycensus.h"

enum { type_of_typed_data = 2, typed_flag = 3 };

static unsigned type_of_words(const uint64_t words[4])
{
	return words[0] & 31;
}

static bool is_class(unsigned type)
{
	return type == jp_ruby_type_class || type == jp_ruby_type_module || type == jp_ruby_type_iclass;
}

/* Of Ruby's internal objects (imemo) bits 12 to 15 say what they are: enum imemo_type of 2.7 to 3.4. */
static unsigned internal_type(const uint64_t words[4])
{
	return words[0] >> 12 & 15;
}

bool jp_rubyowner_of(const uint64_t words[4], struct jp_rubyowner *o)
{
	unsigned type = type_of_words(words);
	if (!jp_ruby_type_name(type))
		return false;
	o->code = is_class(type) || type == jp_ruby_type_imemo;
	o->key = is_class(type)               ? type
	         : type == jp_ruby_type_imemo ? 1U << 8 | internal_type(words)
	         : type == jp_ruby_type_data  ? (words[1] ^ words[type_of_typed_data] * 0x9e3779b97f4a7c15U) | 1
	                                      : words[1] + type;
	return true;
}

bool jp_rubyowner_leads_on(const uint64_t words[4], uint32_t slot)
{
	unsigned type = type_of_words(words);
	bool table_in_slot = type == jp_ruby_type_hash && slot > jp_ruby_least_slot;
	return type != jp_ruby_type_string && type != jp_ruby_type_array && !table_in_slot;
}

/* The name of typed data's type: the type lies in a file's data, and its first word leads to a short text. The flag
 * behind it tells it from data without a type. */
bool jp_ruby_data_type(struct jp_memsource *m, const uint64_t words[4], char text[jp_ruby_name_size])
{
	uint64_t type = words[type_of_typed_data], flag = words[typed_flag];
	const struct jprof_map *map = flag && flag <= typed_flag && type % 8 == 0 ? jp_maps_find(m->maps, type) : NULL;
	if (!map || *map->path != '/')
		return false;
	uint64_t name = jp_memsource_word(m, type);
	map = jp_maps_find(m->maps, name);
	if (!map || *map->path != '/')
		return false;
	jp_memsource_copy(m, name, text, jp_ruby_name_size);
	size_t len = strnlen(text, jp_ruby_name_size);
	for (size_t i = 0; i < len; i++)
		if (!isprint((unsigned char)text[i]))
			return false;
	return len && len < jp_ruby_name_size;
}

static const char *name_of_code(unsigned type, const uint64_t words[4])
{
	enum { imemo_method = 6, imemo_code = 7 };
	if (is_class(type))
		return "classes and modules";
	return internal_type(words) == imemo_code     ? "compiled code"
	       : internal_type(words) == imemo_method ? "methods"
	                                              : "internal objects";
}

void jp_rubyowner_name(struct jp_memsource *m, const struct jp_rubypages *pages, const struct jp_rubynames *names,
                       const uint64_t words[4], struct jp_rubyowner *o)
{
	unsigned type = type_of_words(words);
	char class[jp_ruby_name_size], data[jp_ruby_name_size];
	if (o->code)
		snprintf(o->name, sizeof o->name, "%s", name_of_code(type, words));
	else if (!jp_rubynames_of(m, pages, names, words[1], class))
		snprintf(o->name, sizeof o->name, "%s", jp_ruby_type_name(type));
	else if (type == jp_ruby_type_data && jp_ruby_data_type(m, words, data) && strcmp(data, class) != 0)
		snprintf(o->name, sizeof o->name, "%.62s (%.60s)", class, data);
	else
		snprintf(o->name, sizeof o->name, "%s", class);
}
