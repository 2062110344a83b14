#include "ruby/texts.h"

#include <string.h>

enum { GRANULE = 16, LEN_MAX = 1000, BUCKETS = 1 << 15, CLASSES = 12 };

/* A text's number is the place of its head, in granules. */
struct text {
	uint32_t next; /* in its bucket, or of those that are free */
	uint32_t holders;
	uint32_t hash;
	uint16_t len;
	uint16_t class;
	char bytes[];
};

static const uint16_t granules_of[CLASSES] = { 2, 3, 4, 5, 6, 8, 10, 12, 16, 24, 32, 64 };

static uint32_t *buckets;
static char *base;
static uint32_t end, next_fresh; /* in granules */
static uint32_t freed[CLASSES];

void texts_init(void *memory, size_t size)
{
	buckets = memory;
	base = (char *)memory + BUCKETS * sizeof *buckets;
	end = (uint32_t)((size - BUCKETS * sizeof *buckets) / GRANULE);
	next_fresh = 1;
}

static struct text *at(uint32_t text)
{
	return (struct text *)(void *)(base + (size_t)text * GRANULE);
}

uint32_t texts_hash(struct text_span span)
{
	const uint64_t k = 0x9e3779b97f4a7c15u;
	uint64_t h = span.len * k, part;
	for (; span.len >= sizeof part; span.bytes += sizeof part, span.len -= sizeof part) {
		memcpy(&part, span.bytes, sizeof part);
		h = (h ^ part) * k;
		h ^= h >> 29;
	}
	part = 0;
	memcpy(&part, span.bytes, span.len);
	h = (h ^ part) * k;
	return (uint32_t)(h >> 32);
}

/* Not from what is kept back, unless `last`. */
static uint32_t take_room(unsigned class, bool last)
{
	uint32_t text = freed[class], limit = last ? end : end - end / 8;
	if (text) {
		freed[class] = at(text)->next;
		return text;
	}
	if (next_fresh + granules_of[class] > limit)
		return 0;
	text = next_fresh;
	next_fresh += granules_of[class];
	return text;
}

static uint32_t intern_text(struct text_span span, uint32_t hash, bool last)
{
	unsigned class = 0;
	while (sizeof(struct text) + span.len > (size_t)granules_of[class] * GRANULE)
		class ++;
	uint32_t text = take_room(class, last), *bucket = &buckets[hash % BUCKETS];
	if (!text)
		return 0;
	*at(text) = (struct text){ *bucket, 1, hash, (uint16_t)span.len, (uint16_t) class };
	memcpy(at(text)->bytes, span.bytes, span.len);
	*bucket = text;
	return text;
}

static struct text_span shortened(struct text_span span)
{
	size_t over = span.len > LEN_MAX ? span.len - LEN_MAX : 0;
	return (struct text_span){ span.bytes + over, span.len - over };
}

uint32_t texts_hold(struct text_span span, bool last)
{
	if (!span.len)
		return 0;
	span = shortened(span);
	uint32_t hash = texts_hash(span);
	for (uint32_t text = buckets[hash % BUCKETS]; text; text = at(text)->next)
		if (at(text)->hash == hash && texts_equal(text, span)) {
			at(text)->holders++;
			return text;
		}
	return intern_text(span, hash, last);
}

void texts_release(uint32_t text)
{
	if (!text || --at(text)->holders)
		return;
	uint32_t *link = &buckets[at(text)->hash % BUCKETS];
	while (*link != text)
		link = &at(*link)->next;
	*link = at(text)->next;
	at(text)->next = freed[at(text)->class];
	freed[at(text)->class] = text;
}

struct text_span texts_get(uint32_t text)
{
	return text ? (struct text_span){ at(text)->bytes, at(text)->len } : (struct text_span){ "", 0 };
}

bool texts_equal(uint32_t text, struct text_span span)
{
	struct text_span kept = texts_get(text);
	span = shortened(span);
	return kept.len == span.len && memcmp(kept.bytes, span.bytes, span.len) == 0;
}
