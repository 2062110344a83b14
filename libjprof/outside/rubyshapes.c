#include "outside/rubyshapes.h"

#include <string.h>

#include "input/maps.h"

/* Types that are looked into one by one: enum ruby_value_type. */
enum {
	shape_object = 1,
	shape_float = 4,
	shape_regexp = 6,
	shape_array = 7,
	shape_hash = 8,
	shape_struct = 9,
	shape_bignum = 10,
	shape_file = 11,
	shape_match = 13,
};

/* Bits of flags. */
enum {
	no_string_embedding = 1 << 13,
	embedded = 1 << 13, /* of an Array, Object or Bignum */
	shared = 1 << 14,   /* of a String or Array */
	has_table = 1 << 15,
	ar_size_shift = 16,
	ar_bound_shift = 20,
	ar_bits = 15,
	imemo_iseq = 7,
	array_length_shift = 15,
	struct_shift = 13,
};

enum { first_word = 2, small_slot = 40, most_struct = 1 << 16, most_variables = 1 << 12, ar_head = 8 };

static const uint64_t most_elements = UINT64_C(1) << 32;

static void add_piece(struct jp_rubyshape *s, enum jp_rubypiece_kind kind, uint64_t at, uint64_t words)
{
	if (s->count < jp_most_pieces && words && at % 8 == 0)
		s->pieces[s->count++] = (struct jp_rubypiece){ kind, at, words };
}

static uint64_t word_at(uint64_t slot, unsigned i)
{
	return slot + 8ULL * i;
}

static void shape_string(struct jp_rubyshape *s, const uint64_t *words, uint64_t slot)
{
	if (!(words[0] & no_string_embedding))
		return;
	if (words[0] & shared)
		add_piece(s, JP_PIECE_VALUES, word_at(slot, 4), 1);
	else
		add_piece(s, JP_PIECE_OPAQUE, words[3], 1);
}

/* length, capacity or what it shares, elements. */
static void shape_array_elements(struct jp_rubyshape *s, const uint64_t *words, uint64_t slot, uint32_t size)
{
	uint64_t room = size / 8 - first_word, mask = size == small_slot ? 3 : 0x7f;
	if (words[0] & embedded) {
		s->length = words[0] >> array_length_shift & mask;
		add_piece(s, JP_PIECE_VALUES, word_at(slot, first_word), s->length < room ? s->length : room);
		return;
	}
	s->length = words[2] < most_elements ? words[2] : 0;
	if (words[0] & shared)
		add_piece(s, JP_PIECE_VALUES, word_at(slot, 3), 1);
	else
		add_piece(s, JP_PIECE_VALUES, words[4], s->length);
}

/* st_table proves itself by the address of its type, which is libruby's. */
bool jp_ruby_st_table(struct jp_memsource *m, const uint64_t *words, size_t count, uint64_t *entries, uint64_t *number,
                      uint64_t *bins)
{
	enum { type = 1, live = 2, bin = 3, start = 4, bound = 5, list = 6, table_words = 7 };
	const struct jprof_map *map = count < table_words ? NULL : jp_maps_find(m->maps, words[type]);
	if (!map || *map->path != '/' || words[start] > words[bound] || words[bound] > most_elements ||
	    words[live] > words[bound] || words[list] % 8)
		return false;
	*entries = words[list];
	*number = words[bound];
	*bins = words[bin];
	return true;
}

/* Its capacity is a power of two, and what is used of it, or in use, is not more. */
bool jp_ruby_id_table(const uint64_t *words, size_t count, uint64_t *entries, uint64_t *number)
{
	enum { most_capacity = 1 << 24 };
	uint32_t capacity = (uint32_t)words[0], in_use = (uint32_t)(words[0] >> 32), used = (uint32_t)words[1];
	if (count < 3 || !capacity || capacity & (capacity - 1) || capacity > most_capacity || in_use > used ||
	    used > capacity || words[1] >> 32 || words[2] % 8 || words[2] < jp_memory_page)
		return false;
	*entries = words[2];
	*number = capacity;
	return true;
}

static void shape_table(struct jp_memsource *m, struct jp_rubyshape *s, const uint64_t table[7], uint64_t at)
{
	enum { live = 2, entry_words = 3, table_words = 7 };
	uint64_t entries, number, bins;
	if (!jp_ruby_st_table(m, table, table_words, &entries, &number, &bins))
		return;
	s->length = table[live];
	if (at)
		add_piece(s, JP_PIECE_OPAQUE, at, 1);
	add_piece(s, JP_PIECE_ENTRIES, entries, number * entry_words);
	add_piece(s, JP_PIECE_OPAQUE, bins, bins ? 1 : 0);
}

/* To Ruby 3.2 the table is a block of its own; later it lies in the slot, behind the default. */
static void shape_hash_pairs(struct jp_memsource *m, struct jp_rubyshape *s, const uint64_t *words, uint64_t slot,
                             uint32_t size)
{
	enum { table_words = 7, in_slot = 3 };
	bool outside = size == small_slot;
	uint64_t table[table_words], at = outside ? words[2] : word_at(slot, in_slot);
	add_piece(s, JP_PIECE_VALUES, word_at(slot, outside ? 3 : 2), 1);
	if (!(words[0] & has_table)) {
		s->length = words[0] >> ar_size_shift & ar_bits;
		uint64_t bound = words[0] >> ar_bound_shift & ar_bits;
		if (at)
			add_piece(s, JP_PIECE_PAIRS, at + (outside ? 0 : ar_head), 2 * bound);
		return;
	}
	if (!outside && size >= (in_slot + table_words) * 8)
		shape_table(m, s, words + in_slot, 0);
	else if (outside && at % 8 == 0 && jp_memsource_read(m, at, table, sizeof table))
		shape_table(m, s, table, at);
}

/* To Ruby 3.1 their number comes before their address. */
static void shape_variables(struct jp_rubyshape *s, const uint64_t *words, uint64_t slot, uint32_t size)
{
	uint32_t number = (uint32_t)words[2];
	if (words[0] & embedded)
		add_piece(s, JP_PIECE_VALUES, word_at(slot, first_word), size / 8 - first_word);
	else if (words[2] < 1 << 12 || (size == small_slot && words[2] >> 32 == 0 && number < most_variables))
		add_piece(s, JP_PIECE_VALUES, words[3], number);
	else
		add_piece(s, JP_PIECE_DEEP, word_at(slot, first_word), 1);
}

static void shape_members(struct jp_rubyshape *s, const uint64_t *words, uint64_t slot, uint32_t size)
{
	uint64_t mask = size == small_slot ? 3 : 0x7f;
	if (words[0] >> struct_shift & mask)
		add_piece(s, JP_PIECE_VALUES, word_at(slot, first_word), size / 8 - first_word);
	else if (words[2] < most_struct)
		add_piece(s, JP_PIECE_VALUES, words[3], words[2]);
}

unsigned jp_ruby_imemo_type(uint64_t flags)
{
	return flags >> 12 & 15;
}

/* A cache of calls refers to a class, and does not keep it. */
static void shape_internal(struct jp_rubyshape *s, const uint64_t *words, uint64_t slot, uint32_t size)
{
	unsigned type = jp_ruby_imemo_type(words[0]);
	if (type != jp_imemo_callcache && type != jp_imemo_ast)
		add_piece(s, JP_PIECE_DEEP, word_at(slot, 1), size / 8 - 1);
	s->levels = type == imemo_iseq ? 2 : 1;
}

struct jp_rubyshape jp_rubyshape_of(struct jp_memsource *m, const uint64_t *words, uint64_t slot, uint32_t size)
{
	enum { levels_of_data = 64 };
	struct jp_rubyshape s = { .levels = levels_of_data };
	switch (words[0] & 31) {
	case jp_ruby_type_string: shape_string(&s, words, slot); break;
	case shape_array: shape_array_elements(&s, words, slot, size); break;
	case shape_hash: shape_hash_pairs(m, &s, words, slot, size); break;
	case shape_object: shape_variables(&s, words, slot, size); break;
	case shape_struct: shape_members(&s, words, slot, size); break;
	case jp_ruby_type_imemo: shape_internal(&s, words, slot, size); break;
	case shape_float: break;
	case shape_bignum: add_piece(&s, JP_PIECE_OPAQUE, words[3], words[0] & embedded ? 0 : 1); break;
	case shape_regexp:
		add_piece(&s, JP_PIECE_VALUES, word_at(slot, 3), 1);
		add_piece(&s, JP_PIECE_OPAQUE, words[2], 1);
		break;
	case shape_match:
		add_piece(&s, JP_PIECE_VALUES, word_at(slot, first_word), size / 8 - first_word);
		add_piece(&s, JP_PIECE_OPAQUE, words[3], 1);
		break;
	case jp_ruby_type_class:
	case jp_ruby_type_module:
	case jp_ruby_type_iclass:
		add_piece(&s, JP_PIECE_CLASS, word_at(slot, first_word), size / 8 - first_word);
		break;
	case jp_ruby_type_data:
	case shape_file: add_piece(&s, JP_PIECE_DEEP, word_at(slot, first_word), size / 8 - first_word); break;
	default: add_piece(&s, JP_PIECE_VALUES, word_at(slot, first_word), size / 8 - first_word);
	}
	return s;
}

/* Entries that were deleted have a hash that no key has; pairs that were have no key: Qundef, to 3.1 and later. */
size_t jp_rubypiece_references(enum jp_rubypiece_kind kind, uint64_t *words, size_t count)
{
	enum { old_undefined = 0x34, undefined = 0x24 };
	size_t kept = 0;
	if (kind == JP_PIECE_VALUES || kind == JP_PIECE_DEEP || kind == JP_PIECE_CLASS)
		return count;
	if (kind == JP_PIECE_ENTRIES)
		for (size_t i = 0; i + 3 <= count; i += 3)
			if (words[i] != UINT64_MAX) {
				uint64_t key = words[i + 1], value = words[i + 2];
				words[kept++] = key;
				words[kept++] = value;
			}
	if (kind == JP_PIECE_PAIRS)
		for (size_t i = 0; i + 2 <= count; i += 2)
			if (words[i] != old_undefined && words[i] != undefined) {
				uint64_t key = words[i], value = words[i + 1];
				words[kept++] = key;
				words[kept++] = value;
			}
	return kept;
}
