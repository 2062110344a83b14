#include "outside/jelayout.h"

#include <string.h>

enum { page_bits = 12, user_bits = 47 };

const struct jp_jelayout jp_jelayouts[] = {
	{ "5.3", 2, 18, 8, 128, 17, 3, 20, 28, true, true },  /* addresses of 48 bits */
	{ "5.3", 3, 15, 16, 128, 17, 3, 20, 28, true, true }, /* of 57: built where the processor has five levels */
	{ "5.2", 2, 18, 8, 64, 16, 2, 18, 26, false, false },
};

static uint64_t bits_of(uint64_t word, unsigned at, unsigned count)
{
	return word >> at & ((1ULL << count) - 1);
}

static uint64_t record_word(const unsigned char *bytes, size_t at)
{
	uint64_t word;
	memcpy(&word, bytes + at, sizeof word);
	return word;
}

/* Both are made one: bit 0 slab, 2 to 4 state, then the record, and from 48 on the class. */
struct jp_jeentry jp_jeentry_of(const struct jp_jelayout *l, const unsigned char *bytes)
{
	uint64_t word = record_word(bytes, 0), meta = word, class = word >> 48;
	if (l->entry_size == 16) {
		meta = record_word(bytes, 8);
		class = bits_of(meta, 5, 8);
	}
	uint64_t low = l->entry_size == 16 ? 0 : l->entry_state ? 31 : 1;
	uint64_t record = word & ((1ULL << 48) - 1) & ~low;
	return (struct jp_jeentry){
		.record = record,
		.class = (unsigned)class,
		.state = l->entry_state ? (unsigned)bits_of(meta, 2, 3) : JP_JE_ACTIVE,
		.slab = meta & 1,
		.sound = class <= jp_je_classes && !(record % l->align) && !(record >> user_bits) &&
		         (l->entry_size == 8 || !(word >> user_bits)) && (record || class == jp_je_classes || !word),
	};
}

struct jp_jerecord jp_jerecord_of(const struct jp_jelayout *l, const unsigned char bytes[jp_je_record_size])
{
	enum { address_at = 8, size_at = 16, bitmap_at = 64, page = 1 << page_bits };
	uint64_t bits = record_word(bytes, 0), address = record_word(bytes, address_at);
	struct jp_jerecord r = {
		.base = address / page * page,
		.size = record_word(bytes, size_at) / page * page,
		.first = address,
		.arena = (unsigned)bits_of(bits, 0, 12),
		.slab = bits_of(bits, 12, 1),
		.state = (unsigned)bits_of(bits, l->state_at, l->state_bits),
		.class = (unsigned)bits_of(bits, l->class_at, 8),
		.free_count = (unsigned)bits_of(bits, l->free_at, 10),
	};
	memcpy(r.free, bytes + bitmap_at, sizeof r.free);
	return r;
}

uint64_t jp_jeclass_size(unsigned class)
{
	if (class < 5)
		return class ? 16ULL * class : 8;
	unsigned group = (class - 1) / 4, step = (class - 1) % 4;
	return (64ULL << (group - 1)) + (step + 1) * (16ULL << (group - 1));
}

unsigned jp_jelayout_leaf_bit(const struct jp_jelayout *l)
{
	return page_bits + l->level_bits;
}

size_t jp_jelayout_entries(const struct jp_jelayout *l)
{
	return (size_t)1 << l->level_bits;
}
