#include "outside/rubybuffers.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

enum {
	head_words = 5,      /* of a slot: a String's or an Array's */
	filter_bits = 18,    /* one for each page of a block, by the lowest bits of its number */
	table_words = 7,     /* of struct st_table */
	table_at = 2,        /* its place in a Hash of Ruby to 3.2; later ones have it in their slot */
	has_table = 1 << 15, /* a bit of a Hash's flags: it has one */
	type_mask = 31,
	type_hash = 8,
};

static const uint64_t most_reading = 64ULL << 30; /* of Ruby's heap, and of what its Hashes have */

struct sampled_block {
	uint64_t address;
	uint64_t object; /* that has it; 0: none was found */
	uint64_t head[head_words];
	const struct jp_jecontext *context;
	unsigned class, slot;
};

struct buffer_search {
	struct jp_memsource *source;
	struct sampled_block *blocks; /* ascending */
	size_t count;
	unsigned char filter[(1 << filter_bits) / 8];
	uint64_t page[jp_ruby_most_page / 8];
};

/* ---- blocks ----------------------------------------------------------------------------------------------------- */

struct context_place {
	uint64_t address;
	const struct jp_jecontext *context;
};

static unsigned filter_place(uint64_t address)
{
	return address / jp_memory_page % (1 << filter_bits);
}

static void add_block(struct buffer_search *s, const struct jp_jesample *sample, const struct jp_jecontext *context)
{
	unsigned place = filter_place(sample->address);
	s->filter[place / 8] = (unsigned char)(s->filter[place / 8] | 1 << place % 8);
	s->blocks[s->count++] =
	    (struct sampled_block){ .address = sample->address, .context = context, .class = sample->class };
}

/* 0, or -1 when memory is short. */
static int list_blocks(struct buffer_search *s, const struct jp_jeprofile *p)
{
	struct context_place *places = malloc((p->count + 1) * sizeof *places);
	s->blocks = malloc((p->sample_count + 1) * sizeof *s->blocks);
	for (size_t i = 0; places && i < p->count; i++)
		places[i] = (struct context_place){ p->contexts[i].address, &p->contexts[i] };
	if (places)
		qsort(places, p->count, sizeof *places, jp_by_first);
	for (size_t i = 0; places && s->blocks && i < p->sample_count; i++) {
		size_t at = jp_count_below(places, p->count, sizeof *places, p->samples[i].context);
		if (at < p->count && places[at].address == p->samples[i].context)
			add_block(s, &p->samples[i], places[at].context);
	}
	if (s->blocks)
		qsort(s->blocks, s->count, sizeof *s->blocks, jp_by_first);
	int rc = places && s->blocks ? 0 : -1;
	free(places);
	return rc;
}

/* The block that begins at an address, NULL: none does. */
static struct sampled_block *block_from(struct buffer_search *s, uint64_t address)
{
	unsigned place = filter_place(address);
	if (!(s->filter[place / 8] >> place % 8 & 1))
		return NULL;
	size_t at = jp_count_below(s->blocks, s->count, sizeof *s->blocks, address);
	return at < s->count && s->blocks[at].address == address ? &s->blocks[at] : NULL;
}

/* ---- objects ---------------------------------------------------------------------------------------------------- */

/* Types whose objects have a block for their contents: Object, String, Array, Hash, Struct, Data. */
static bool has_contents(unsigned type)
{
	static const uint32_t types =
	    1u << 1 | 1u << jp_ruby_type_string | 1u << 7 | 1u << type_hash | 1u << 9 | 1u << jp_ruby_type_data;
	return types >> type & 1;
}

static bool refers_to(const struct sampled_block *b, uint64_t object)
{
	for (size_t i = 2; i < head_words; i++)
		if (b->head[i] == object)
			return true;
	return false;
}

/* Strings and Arrays that share a block point to it, and to the object that has it, which points to it, too. */
static void claim_blocks(struct buffer_search *s, const uint64_t *words, size_t count, const uint64_t *slot,
                         uint64_t object, unsigned slot_size)
{
	for (size_t i = 0; i < count; i++) {
		struct sampled_block *b = block_from(s, words[i]);
		if (!b || (b->object && !refers_to(b, object)))
			continue;
		b->object = object;
		b->slot = slot_size;
		memcpy(b->head, slot, sizeof b->head);
	}
}

static void look_at_slot(struct buffer_search *s, const uint64_t *words, uint64_t object, unsigned slot_size)
{
	unsigned type = words[0] & type_mask;
	uint64_t table[table_words];
	if (!has_contents(type))
		return;
	claim_blocks(s, words + 2, slot_size / 8 - 2, words, object, slot_size);
	uint64_t at = words[table_at];
	if (type == type_hash && words[0] & has_table && at && at % 8 == 0 && jp_memsource_heap(s->source, at) &&
	    jp_memsource_read(s->source, at, table, sizeof table))
		claim_blocks(s, table, table_words, words, object, slot_size);
}

static void look_at_page(struct buffer_search *s, const struct jp_rubypage *p)
{
	jp_memsource_copy(s->source, p->at, s->page, p->size);
	for (uint32_t i = 0; i < p->count; i++) {
		uint64_t at = p->first - p->at + (uint64_t)i * p->slot;
		look_at_slot(s, s->page + at / 8, p->at + at, p->slot);
	}
}

/* ---- text ------------------------------------------------------------------------------------------------------- */

/* Of its stack only numbers that the agent added are written. */
static void put_buffer(struct jp_strbuf *text, const struct sampled_block *b, const struct jprof_map *ids)
{
	jp_strbuf_printf(text, "b %llx %llu %u %llu", (unsigned long long)b->object,
	                 (unsigned long long)b->head[0] & type_mask, b->slot,
	                 (unsigned long long)jp_jeclass_size(b->class));
	for (uint32_t i = 0; ids && i < b->context->depth; i++)
		if (b->context->stack[i] - ids->start < ids->limit - ids->start)
			jp_strbuf_printf(text, " %llx", (unsigned long long)b->context->stack[i]);
	jp_strbuf_str(text, "\n");
}

static const struct jprof_map *map_of_ids(const struct jp_memsource *source)
{
	static const char name[] = "/memfd:jprof-ids:";
	for (size_t i = 0; i < jprof_maps_count(source->maps); i++)
		if (!strncmp(jprof_maps_at(source->maps, i)->path, name, sizeof name - 1))
			return jprof_maps_at(source->maps, i);
	return NULL;
}

static void put_buffers(struct jp_strbuf *text, const struct buffer_search *s, int lg_rate)
{
	const struct jprof_map *ids = map_of_ids(s->source);
	size_t count = 0;
	jp_strbuf_printf(text, "jprof-buffers 1\nrate %llu\n", 1ULL << lg_rate);
	for (size_t i = 0; i < s->count; i++)
		if (s->blocks[i].object) {
			put_buffer(text, &s->blocks[i], ids);
			count++;
		}
	jp_strbuf_printf(text, "end %zu\n", count);
}

int jp_rubybuffers_write(struct jp_memsource *source, const struct jp_jeprofile *profile,
                         const struct jp_rubypages *pages, struct jp_strbuf *text)
{
	if (!profile->count || !pages->count)
		return 0;
	struct buffer_search *s = calloc(1, sizeof *s);
	if (!s)
		return -1;
	s->source = source;
	int rc = list_blocks(s, profile);
	source->left += most_reading;
	for (size_t i = 0; !rc && i < pages->count; i++)
		look_at_page(s, &pages->items[i]);
	if (!rc && source->left)
		put_buffers(text, s, profile->lg_rate);
	free(s->blocks);
	free(s);
	return rc || text->failed ? -1 : 0;
}
