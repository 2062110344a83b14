/* What one of Ruby's objects is called where it owns memory: by its class, or what it is to Ruby itself. */
#pragma once

#include "outside/rubynames.h"

enum { jp_rubyowner_size = 2 * jp_ruby_name_size };

struct jp_rubyowner {
	bool code;                    /* it is Ruby's own: compiled code, methods, classes */
	uint64_t key;                 /* objects of one key have one name */
	char name[jp_rubyowner_size]; /* jp_rubyowner_name */
};

/* The kind and the key of the object with these first four words; false: it is none. */
bool jp_rubyowner_of(const uint64_t words[4], struct jp_rubyowner *owner);

/* Whether what an object in a slot of this size points to may point to more. The buffers of Strings and Arrays hold
 * text and objects; so do those of a Hash whose table is in its slot, as from Ruby 3.3 on. */
bool jp_rubyowner_leads_on(const uint64_t words[4], uint32_t slot);

/* Fills in its name: of T_DATA also that of its type (rb_data_type_t.wrap_struct_name), where this proves itself; of a
 * class that has no name that of Ruby's type. */
void jp_rubyowner_name(struct jp_memsource *source, const struct jp_rubypages *pages, const struct jp_rubynames *names,
                       const uint64_t words[4], struct jp_rubyowner *owner);

/* The name of the type of T_DATA with these first words; false: it does not prove itself. */
bool jp_ruby_data_type(struct jp_memsource *source, const uint64_t words[4], char name[jp_ruby_name_size]);
