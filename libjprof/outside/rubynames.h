/* Names of Ruby's classes in the memory of a process, without a table of offsets: libruby exports eight classes whose
 * names are known, and the one way that leads from each of them to its name leads to all others'. A Ruby where no way
 * does has no names. */
#pragma once

#include "outside/rubypages.h"

enum { jp_ruby_known = 8, jp_ruby_name_size = 64 };

/* Of what is exported: rb_cString and so on, and their names. */
extern const char *const jp_ruby_symbols[jp_ruby_known];

/* What leads from a class to its name: a word of it, then none, a word of what that leads to, or a table's entry. */
struct jp_rubynames {
	bool known;
	unsigned name_at; /* of the class, bytes */
	bool by_record;   /* the word there leads to a record, whose word at record_at leads on */
	unsigned record_at;
	uint64_t key;                    /* not 0: to a table, whose entry with that key is the name */
	unsigned super_at;               /* of the class: where its superclass is */
	unsigned text_at;                /* of a string that lies in its slot */
	uint64_t classes[jp_ruby_known]; /* the eight */
};

/* `variables`: addresses of the eight; 0 where one is not known. */
struct jp_rubynames jp_rubynames_learn(struct jp_memsource *source, const struct jp_rubypages *pages,
                                       const uint64_t variables[jp_ruby_known]);

/* The name of a class, or of the first above it that has one: singleton classes have none. False: it has none, or it
 * is not sure. */
bool jp_rubynames_of(struct jp_memsource *source, const struct jp_rubypages *pages, const struct jp_rubynames *names,
                     uint64_t class, char name[jp_ruby_name_size]);

/* The name of a class or module itself; false: it has none, or it is not sure. */
bool jp_rubynames_own(struct jp_memsource *source, const struct jp_rubypages *pages, const struct jp_rubynames *names,
                      uint64_t class, char name[jp_ruby_name_size]);

/* The first bytes of a string's text, visible ASCII alone; false: it is none, or has others, or is longer. */
bool jp_rubynames_text(struct jp_memsource *source, const struct jp_rubypages *pages, const struct jp_rubynames *names,
                       uint64_t string, char *text, size_t size);
