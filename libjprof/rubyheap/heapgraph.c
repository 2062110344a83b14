#include "rubyheap/heapgraph.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/reader.h"

/* Bits of a slot's first byte, and limits that no Ruby reaches. */
enum { type_bits = 0x1f, is_singleton = 0x20, has_name = 0x40, has_length = 0x80 };
enum { word_bytes = 8, largest_slot = 1 << 20 };

struct graph_reader {
	struct jp_heap_builder b;
	struct jp_bytes bytes;
	uint64_t objects;
	uint32_t *names; /* words by which an object refers to another, by number - 1 */
	size_t name_count, name_cap;
};

static int damaged_graph(const struct graph_reader *r)
{
	return jp_error(r->b.err, JPROF_E_FORMAT, r->b.name, 0,
	                "the graph of its objects is damaged or not whole, at byte %zu; take another snapshot",
	                r->bytes.pos);
}

/* A text becomes a word of the heap; an empty one is none. */
static int read_graph_text(struct graph_reader *r, uint32_t *word)
{
	uint64_t len = jp_bytes_uleb(&r->bytes);
	*word = JP_NONE;
	if (r->bytes.bad || len > r->bytes.len - r->bytes.pos)
		return damaged_graph(r);
	const char *text = (const char *)r->bytes.data + r->bytes.pos;
	jp_bytes_seek(&r->bytes, r->bytes.pos + len);
	if (len)
		*word = jp_intern(&r->b.heap->words, text, len);
	return len && *word == JP_NONE ? jp_error_nomem(r->b.err) : 0;
}

/* From an object to another, by their distance; 0 for none. */
static uint64_t neighbour_at(uint64_t from, uint64_t distance)
{
	uint64_t words = distance >> 1 ^ (distance & 1 ? UINT64_MAX : 0);
	return words ? from + words * word_bytes : 0;
}

/* A name's number, and the name itself where it is new. */
static int read_edge_name(struct graph_reader *r, uint32_t *name)
{
	uint64_t number = jp_bytes_uleb(&r->bytes);
	if (r->bytes.bad || !number || number > r->name_count + 1)
		return damaged_graph(r);
	if (number > r->name_count) {
		if (jp_array_push(r->names, r->name_count, r->name_cap))
			return jp_error_nomem(r->b.err);
		int rc = read_graph_text(r, &r->names[r->name_count]);
		if (rc)
			return rc;
		r->name_count++;
	}
	*name = r->names[number - 1];
	return 0;
}

/* In the first format an edge is a distance; in the second its lowest bit says whether it has a name. */
static int read_neighbours(struct graph_reader *r, uint64_t from)
{
	uint64_t number;
	int rc = 0;
	while (!rc && (number = jp_bytes_uleb(&r->bytes))) {
		uint32_t name = JP_NONE;
		if (r->b.names_edges) {
			rc = number & 1 ? read_edge_name(r, &name) : 0;
			number >>= 1;
			rc = rc || number ? rc : damaged_graph(r);
		}
		rc = rc ? rc : jp_heap_ask(&r->b, neighbour_at(from, number), name);
	}
	return rc || !r->bytes.bad ? rc : damaged_graph(r);
}

/* As Ruby numbers them. */
static enum jp_heap_type type_of_slot(unsigned bits)
{
	static const uint8_t types[type_bits + 1] = {
		[1] = JP_HEAP_OBJECT, [2] = JP_HEAP_CLASS,   [3] = JP_HEAP_MODULE, [5] = JP_HEAP_STRING,
		[7] = JP_HEAP_ARRAY,  [8] = JP_HEAP_HASH,    [9] = JP_HEAP_STRUCT, [12] = JP_HEAP_DATA,
		[26] = JP_HEAP_IMEMO, [28] = JP_HEAP_ICLASS,
	};
	enum jp_heap_type type = (enum jp_heap_type)types[bits & type_bits];
	return type == JP_HEAP_UNKNOWN                        ? JP_HEAP_OTHER
	       : type == JP_HEAP_CLASS && bits & is_singleton ? JP_HEAP_SINGLETON
	                                                      : type;
}

static int read_slot(struct graph_reader *r, unsigned bits, uint64_t address, uint64_t stride)
{
	struct jp_heap_object object = { .name = JP_NONE, .site = JP_NONE, .method = JP_NONE };
	int rc = jp_heap_begin(&r->b);
	if (rc)
		return rc;
	object.type = (uint8_t)type_of_slot(bits);
	r->b.asked[own_address] = address;
	r->b.asked[class_address] = neighbour_at(address, jp_bytes_uleb(&r->bytes));
	object.bytes = jp_bytes_uleb(&r->bytes);
	object.bytes = object.bytes ? object.bytes : stride;
	uint64_t length = bits & has_length ? jp_bytes_uleb(&r->bytes) : 0;
	object.length = length < UINT32_MAX ? (uint32_t)length : UINT32_MAX;
	if (bits & has_name)
		rc = read_graph_text(r, &object.name);
	rc = rc ? rc : read_neighbours(r, address);
	r->objects++;
	return rc ? rc : jp_heap_add(&r->b, &object);
}

/* Each slot has a byte at least, so there are no more than bytes. */
static int read_heap_page(struct graph_reader *r)
{
	uint64_t first = jp_bytes_uleb(&r->bytes), stride = jp_bytes_uleb(&r->bytes), count = jp_bytes_uleb(&r->bytes);
	uint64_t most = (UINT64_MAX - (uint64_t)largest_slot * (r->bytes.len + 1)) / word_bytes;
	if (r->bytes.bad || !stride || stride > largest_slot || count > r->bytes.len - r->bytes.pos || first > most)
		return damaged_graph(r);
	int rc = 0;
	for (uint64_t i = 0; !rc && i < count; i++) {
		unsigned bits = (unsigned)jp_bytes_uint(&r->bytes, 1);
		if (r->bytes.bad)
			rc = damaged_graph(r);
		else if (bits)
			rc = read_slot(r, bits, first * word_bytes + i * stride, stride);
	}
	return rc;
}

static int read_graph_root(struct graph_reader *r)
{
	struct jp_heap_object root = { .type = JP_HEAP_ROOT, .site = JP_NONE, .method = JP_NONE };
	int rc = read_graph_text(r, &root.name);
	uint64_t place = jp_bytes_uleb(&r->bytes);
	if (!rc && (r->bytes.bad || place > UINT64_MAX / word_bytes))
		return damaged_graph(r);
	uint32_t name = JP_NONE;
	if (!rc && r->b.names_edges)
		rc = read_graph_text(r, &name);
	rc = rc ? rc : jp_heap_begin(&r->b);
	rc = rc ? rc : jp_heap_ask(&r->b, place * word_bytes, name);
	return rc ? rc : jp_heap_add(&r->b, &root);
}

static int read_graph_records(struct graph_reader *r)
{
	static const char end[] = "end\n";
	for (;;) {
		uint64_t kind = jp_bytes_uint(&r->bytes, 1);
		int rc;
		if (r->bytes.bad || !strchr("PRE", (int)kind) || !kind)
			return damaged_graph(r);
		if (kind == 'E')
			break;
		rc = kind == 'P' ? read_heap_page(r) : read_graph_root(r);
		if (rc)
			return rc;
	}
	bool whole = jp_bytes_uleb(&r->bytes) == r->objects && jp_bytes_uleb(&r->bytes) == sizeof end - 1 &&
	             r->bytes.len - r->bytes.pos == sizeof end - 1 &&
	             !memcmp(r->bytes.data + r->bytes.pos, end, sizeof end - 1);
	if (!whole || r->bytes.bad || !r->b.roots.count)
		return damaged_graph(r);
	return jp_heap_conclude(&r->b);
}

/* A line "compactions N" of the head; 0: there is none. */
static uint64_t read_moves(struct jp_span head)
{
	static const char key[] = "\ncompactions ";
	const char *at = memmem(head.ptr, head.len, key, sizeof key - 1), *end = head.ptr + head.len;
	uint64_t count = 0;
	if (!at)
		return 0;
	for (at += sizeof key - 1; at < end && *at >= '0' && *at <= '9' && count < UINT32_MAX; at++)
		count = 10 * count + (uint64_t)(*at - '0');
	return count + 1;
}

/* Lines of text up to an empty one, of which the first says what it is. */
static int read_graph_head(struct graph_reader *r, const void *data, size_t len)
{
	static const char first[] = "jprof-graph ", nameless[] = "jprof-graph 1\n", known[] = "jprof-graph 2\n";
	const char *end = memmem(data, len < 4096 ? len : 4096, "\n\n", 2);
	if (!end || strncmp(data, first, sizeof first - 1) != 0)
		return jp_error(r->b.err, JPROF_E_FORMAT, r->b.name, 0, "has no graph of Ruby's objects");
	r->b.names_edges = !strncmp(data, known, sizeof known - 1);
	if (!r->b.names_edges && strncmp(data, nameless, sizeof nameless - 1) != 0)
		return jp_error(r->b.err, JPROF_E_UNSUPPORTED, r->b.name, 0,
		                "has a graph of Ruby's objects in a format that is not known here; take a newer jprof");
	r->b.heap->is_graph = true;
	r->b.heap->moves = read_moves((struct jp_span){ data, (size_t)(end - (const char *)data) });
	jp_bytes_seek(&r->bytes, (uint64_t)(end + 2 - (const char *)data));
	return 0;
}

int jp_heap_read_graph(struct jp_heap *heap, const void *data, size_t len, const char *name, struct jprof_error *err)
{
	struct graph_reader r = { .b = { .heap = heap, .name = name, .err = err } };
	r.bytes = (struct jp_bytes){ .data = data, .len = len };
	int rc = read_graph_head(&r, data, len);
	rc = rc ? rc : read_graph_records(&r);
	free(r.names);
	jp_heap_builder_release(&r.b);
	return rc;
}
