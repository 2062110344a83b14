/* Where in memory one of Ruby's objects has what it refers to, and which blocks of malloc are its own. Sources: the
 * structs of Ruby 3.1 to 3.4 (rarray.h, rstring.h, robject.h, internal/hash.h, st.h, internal/struct.h, imemo.h), as
 * far as these tell themselves apart: a Hash whose table is in its slot has a larger slot. */
#pragma once

#include "outside/rubypages.h"

enum jp_rubypiece_kind {
	JP_PIECE_VALUES,  /* references, one behind the other */
	JP_PIECE_ENTRIES, /* of a Hash's table: a hash, a key and a value each */
	JP_PIECE_PAIRS,   /* of a small Hash: a key and a value each */
	JP_PIECE_OPAQUE,  /* no references */
	JP_PIECE_CLASS,   /* references, and addresses of tables of constants, variables and methods */
	JP_PIECE_DEEP,    /* references and addresses of other blocks, in an order that only C code knows */
};

struct jp_rubypiece {
	enum jp_rubypiece_kind kind;
	uint64_t at, words;
};

enum { jp_most_pieces = 4, jp_ruby_most_words = 2048 / 8 };

struct jp_rubyshape {
	uint64_t length; /* elements of an Array or Hash */
	struct jp_rubypiece pieces[jp_most_pieces];
	unsigned count;
	int levels; /* how far blocks of what is deep lead on from one to the next */
};

/* `words` is the slot at an address, of so many bytes. */
struct jp_rubyshape jp_rubyshape_of(struct jp_memsource *source, const uint64_t *words, uint64_t slot, uint32_t size);

/* Of the words of a piece those that refer to something come first; how many. */
size_t jp_rubypiece_references(enum jp_rubypiece_kind kind, uint64_t *words, size_t count);

/* Whether words are the head of a table of Ruby's: by numbers (rb_id_table: *entries with *count of two words each, the
 * value last), or by anything (st_table, where *count has three words each, and a hash of UINT64_MAX means that it was
 * deleted). *bins is a block that it has besides, or 0. */
bool jp_ruby_id_table(const uint64_t *words, size_t count, uint64_t *entries, uint64_t *number);
bool jp_ruby_st_table(struct jp_memsource *source, const uint64_t *words, size_t count, uint64_t *entries,
                      uint64_t *number, uint64_t *bins);

/* What an internal object is: enum imemo_type. */
enum { jp_imemo_env = 0, jp_imemo_ast = 9, jp_imemo_callcache = 12 };
unsigned jp_ruby_imemo_type(uint64_t flags);
