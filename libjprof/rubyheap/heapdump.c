#include "rubyheap/heapdump.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/jsonpull.h"
#include "base/strbuf.h"
#include "input/stream.h"

/* The lines of one object name these addresses: its own, its class's, and what it refers to. */
enum { own_address, class_address, first_reference };

/* Roots of a kind are one object, at an address that no object has. */
enum { root_addresses = 4096 };

/* Edges as they are read: `count` of them lead from `from`. */
struct edge_run {
	uint32_t from, count;
};

struct heap_reader {
	struct jp_heap *heap;
	const char *name; /* of the file */
	bool texts;       /* what Strings say is asked for */
	unsigned line;
	struct jp_index ids;
	size_t address_cap, object_cap, says_cap;
	uint64_t *asked; /* the addresses of this line */
	uint32_t *found; /* and their ids */
	size_t asked_count, asked_cap, found_cap;
	struct edge_run *runs;
	uint32_t *to;
	size_t run_count, run_cap, to_count, to_cap;
	uint64_t bytes; /* of all objects so far: no sum of some is larger */
	struct jp_intern roots;
	struct jp_strbuf text;
	struct jprof_error *err;
};

static uint64_t address_in(const struct jp_json_text *text)
{
	struct jp_span span = text->raw;
	uint64_t address = 0;
	if (!jp_span_text(&span, "0x") || jp_span_hex(&span, &address) != JP_NUMBER_OK || span.len)
		return 0;
	return address;
}

static int ask_id_of(struct heap_reader *r, uint64_t address)
{
	if (jp_array_push(r->asked, r->asked_count, r->asked_cap))
		return jp_error_nomem(r->err);
	r->asked[r->asked_count++] = address;
	return 0;
}

/* What a text means goes to r->text. */
static void put_json_meaning(struct heap_reader *r, const struct jp_json_text *text)
{
	jp_strbuf_cut(&r->text, 0);
	jp_strbuf_add(&r->text, text->raw.ptr, text->raw.len);
	if (text->escaped && !r->text.failed)
		jp_strbuf_cut(&r->text, jp_json_decode(text, r->text.text));
}

/* The id of the word in r->text; JP_NONE when memory is short. */
static uint32_t word_id(struct heap_reader *r)
{
	return r->text.failed ? JP_NONE : jp_intern(&r->heap->words, r->text.text ? r->text.text : "", r->text.len);
}

static enum jp_heap_type heap_type_of(const struct jp_json_text *text)
{
	static const char *const types[] = {
		[JP_HEAP_ROOT] = "ROOT",     [JP_HEAP_CLASS] = "CLASS",   [JP_HEAP_SINGLETON] = "",
		[JP_HEAP_MODULE] = "MODULE", [JP_HEAP_ICLASS] = "ICLASS", [JP_HEAP_OBJECT] = "OBJECT",
		[JP_HEAP_STRING] = "STRING", [JP_HEAP_ARRAY] = "ARRAY",   [JP_HEAP_HASH] = "HASH",
		[JP_HEAP_STRUCT] = "STRUCT", [JP_HEAP_DATA] = "DATA",     [JP_HEAP_IMEMO] = "IMEMO"
	};
	for (unsigned type = JP_HEAP_ROOT; type < jp_count(types); type++)
		if (jp_json_means(text, types[type]))
			return (enum jp_heap_type)type;
	return JP_HEAP_OTHER;
}

/* What a line says of its object. Texts without raw.ptr are not there. */
struct said_object {
	struct jp_heap_object object;
	struct jp_json_text type, name, file, method, value;
	struct jp_span line; /* its digits */
	bool singleton;
};

static int read_references(struct heap_reader *r, struct jp_jsonpull *pull)
{
	enum jp_json_token token;
	while ((token = jp_jsonpull_next(pull)) == JP_JSON_TEXT) {
		uint64_t address = address_in(&pull->text);
		int rc = address ? ask_id_of(r, address) : 0;
		if (rc)
			return rc;
	}
	if (token != JP_JSON_CLOSE)
		return jp_error(r->err, JPROF_E_FORMAT, r->name, r->line, "references that are no list of addresses");
	return 0;
}

/* What a member of a line says. */
enum member {
	MEMBER_OTHER,
	MEMBER_ADDRESS,
	MEMBER_CLASS,
	MEMBER_TYPE,
	MEMBER_NAME,
	MEMBER_FILE,
	MEMBER_METHOD,
	MEMBER_VALUE,
	MEMBER_BYTES,
	MEMBER_LINE,
	MEMBER_GENERATION,
	MEMBER_LENGTH,
	MEMBER_REFERENCES,
	MEMBER_SINGLETON,
};

static enum member member_named(const struct jp_json_text *key)
{
	static const struct {
		struct jp_span name;
		enum member member;
	} members[] = {
		{ { "address", 7 }, MEMBER_ADDRESS },     { { "type", 4 }, MEMBER_TYPE },
		{ { "class", 5 }, MEMBER_CLASS },         { { "references", 10 }, MEMBER_REFERENCES },
		{ { "memsize", 7 }, MEMBER_BYTES },       { { "file", 4 }, MEMBER_FILE },
		{ { "line", 4 }, MEMBER_LINE },           { { "method", 6 }, MEMBER_METHOD },
		{ { "value", 5 }, MEMBER_VALUE },         { { "generation", 10 }, MEMBER_GENERATION },
		{ { "bytesize", 8 }, MEMBER_LENGTH },     { { "length", 6 }, MEMBER_LENGTH },
		{ { "size", 4 }, MEMBER_LENGTH },         { { "imemo_type", 10 }, MEMBER_NAME },
		{ { "struct", 6 }, MEMBER_NAME },         { { "name", 4 }, MEMBER_NAME },
		{ { "root", 4 }, MEMBER_NAME },           { { "real_class_name", 15 }, MEMBER_NAME },
		{ { "singleton", 9 }, MEMBER_SINGLETON },
	};
	for (size_t i = 0; i < jp_count(members); i++)
		if (key->raw.len == members[i].name.len && !memcmp(key->raw.ptr, members[i].name.ptr, key->raw.len))
			return members[i].member;
	return MEMBER_OTHER;
}

static void take_text_member(struct heap_reader *r, struct said_object *s, enum member member,
                             const struct jp_json_text *text)
{
	switch (member) {
	case MEMBER_ADDRESS: r->asked[own_address] = address_in(text); break;
	case MEMBER_CLASS: r->asked[class_address] = address_in(text); break;
	case MEMBER_TYPE: s->type = *text; break;
	case MEMBER_NAME: s->name = *text; break;
	case MEMBER_FILE: s->file = *text; break;
	case MEMBER_METHOD: s->method = *text; break;
	case MEMBER_VALUE: s->value = *text; break;
	default: break;
	}
}

static void take_number_member(struct said_object *s, enum member member, struct jp_span number)
{
	uint64_t value;
	if (!jp_json_to_uint(number, &value))
		return;
	uint32_t small = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
	switch (member) {
	case MEMBER_BYTES: s->object.bytes = value; break;
	case MEMBER_LINE: s->line = number; break;
	case MEMBER_GENERATION: s->object.generation = small; break;
	case MEMBER_LENGTH: s->object.length = small; break;
	default: break;
	}
}

static int read_object_members(struct heap_reader *r, struct jp_jsonpull *pull, struct said_object *s)
{
	enum jp_json_token token;
	int rc = 0;
	while (!rc && (token = jp_jsonpull_next(pull)) != JP_JSON_CLOSE) {
		if (token == JP_JSON_BAD)
			return jp_jsonpull_error(pull, r->name, r->line, r->err);
		enum member member = member_named(&pull->key);
		if (token == JP_JSON_TEXT)
			take_text_member(r, s, member, &pull->text);
		else if (token == JP_JSON_NUMBER)
			take_number_member(s, member, pull->text.raw);
		else if (token == JP_JSON_TRUE && member == MEMBER_SINGLETON)
			s->singleton = true;
		else if (token == JP_JSON_ARRAY && member == MEMBER_REFERENCES)
			rc = read_references(r, pull);
		else if ((token == JP_JSON_ARRAY || token == JP_JSON_OBJECT) && !jp_jsonpull_skip(pull))
			return jp_jsonpull_error(pull, r->name, r->line, r->err);
	}
	return rc;
}

/* The texts of an object become words. */
static int name_object(struct heap_reader *r, struct said_object *s)
{
	struct jp_heap_object *object = &s->object;
	object->name = object->site = object->method = JP_NONE;
	if (s->name.raw.ptr) {
		put_json_meaning(r, &s->name);
		if ((object->name = word_id(r)) == JP_NONE)
			return jp_error_nomem(r->err);
	}
	if (s->method.raw.ptr) {
		put_json_meaning(r, &s->method);
		if ((object->method = word_id(r)) == JP_NONE)
			return jp_error_nomem(r->err);
	}
	if (s->file.raw.ptr) {
		put_json_meaning(r, &s->file);
		jp_strbuf_str(&r->text, ":");
		jp_strbuf_add(&r->text, s->line.len ? s->line.ptr : "0", s->line.len ? s->line.len : 1);
		if ((object->site = word_id(r)) == JP_NONE)
			return jp_error_nomem(r->err);
	}
	return 0;
}

/* Roots come before all objects: their kind is their address. */
static int place_root(struct heap_reader *r, const struct said_object *s)
{
	if (s->object.name == JP_NONE)
		return jp_error(r->err, JPROF_E_FORMAT, r->name, r->line, "a root without its kind");
	size_t len = jp_intern_len(&r->heap->words, s->object.name);
	uint32_t kind = jp_intern(&r->roots, jp_intern_get(&r->heap->words, s->object.name), len);
	if (kind == JP_NONE)
		return jp_error_nomem(r->err);
	if (kind + 1 >= root_addresses)
		return jp_error(r->err, JPROF_E_FORMAT, r->name, r->line, "more kinds of roots than there are");
	r->asked[own_address] = kind + 1;
	return 0;
}

/* Makes room for the objects of all ids; those that are new are not known yet. */
static int grow_objects(struct heap_reader *r)
{
	struct jp_heap *heap = r->heap;
	if (r->ids.count <= heap->count)
		return 0;
	if (jp_array_reserve(&heap->objects, &r->object_cap, r->ids.count, sizeof *heap->objects) ||
	    (r->texts && jp_array_reserve(&heap->says, &r->says_cap, r->ids.count, sizeof *heap->says)))
		return jp_error_nomem(r->err);
	for (uint32_t id = heap->count; r->texts && id < r->ids.count; id++)
		heap->says[id] = JP_NONE;
	for (uint32_t id = heap->count; id < r->ids.count; id++)
		heap->objects[id] = (struct jp_heap_object){
			.class_node = JP_NONE, .name = JP_NONE, .site = JP_NONE, .method = JP_NONE
		};
	heap->count = r->ids.count;
	return 0;
}

static int add_heap_edges(struct heap_reader *r, bool has_class)
{
	uint32_t skip = has_class ? class_address : first_reference;
	size_t count = r->asked_count - skip;
	if (r->to_count + count >= UINT32_MAX)
		return jp_error(r->err, JPROF_E_UNSUPPORTED, r->name, r->line, "more than 4 billion references");
	if (jp_array_push(r->runs, r->run_count, r->run_cap) ||
	    jp_array_reserve(&r->to, &r->to_cap, r->to_count + count, sizeof *r->to))
		return jp_error_nomem(r->err);
	r->runs[r->run_count++] = (struct edge_run){ .from = r->found[own_address], .count = (uint32_t)count };
	if (count)
		memcpy(r->to + r->to_count, r->found + skip, count * sizeof *r->to);
	r->to_count += count;
	return 0;
}

/* What a String says becomes a text of the heap. */
static int keep_meaning(struct heap_reader *r, const struct said_object *s, uint32_t node)
{
	if (!r->texts || s->object.type != JP_HEAP_STRING || !s->value.raw.ptr)
		return 0;
	put_json_meaning(r, &s->value);
	uint32_t says =
	    r->text.failed ? JP_NONE : jp_intern(&r->heap->texts, r->text.text ? r->text.text : "", r->text.len);
	r->heap->says[node] = says;
	return says == JP_NONE ? jp_error_nomem(r->err) : 0;
}

static int add_heap_object(struct heap_reader *r, struct said_object *s)
{
	s->object.type = (uint8_t)(s->singleton ? JP_HEAP_SINGLETON : heap_type_of(&s->type));
	int rc = name_object(r, s);
	if (!rc && s->object.type == JP_HEAP_ROOT)
		rc = place_root(r, s);
	if (rc)
		return rc;
	if (s->object.type != JP_HEAP_ROOT && r->asked[own_address] < root_addresses)
		return jp_error(r->err, JPROF_E_FORMAT, r->name, r->line, "an object without its address");
	if (s->object.bytes > INT64_MAX - r->bytes)
		return jp_error(r->err, JPROF_E_FORMAT, r->name, r->line, "more bytes than any memory has");
	r->bytes += s->object.bytes;
	/* Internal objects have none; what is asked for in its place is known already. */
	bool has_class = r->asked[class_address] >= root_addresses;
	if (!has_class)
		r->asked[class_address] = r->asked[own_address];
	if (jp_array_reserve(&r->found, &r->found_cap, r->asked_count, sizeof *r->found) ||
	    jp_index_words(&r->ids, &r->heap->addresses, &r->address_cap, r->asked, r->asked_count, r->found))
		return jp_error_nomem(r->err);
	rc = grow_objects(r);
	if (rc)
		return rc;
	s->object.class_node = has_class ? r->found[class_address] : JP_NONE;
	r->heap->objects[r->found[own_address]] = s->object;
	rc = keep_meaning(r, s, r->found[own_address]);
	return rc ? rc : add_heap_edges(r, has_class);
}

static int read_object_line(struct heap_reader *r, struct jp_span line)
{
	struct jp_jsonpull pull;
	struct said_object s = { 0 };
	r->asked_count = 0;
	int rc = ask_id_of(r, 0);
	rc = rc ? rc : ask_id_of(r, 0);
	if (rc)
		return rc;
	jp_jsonpull_init(&pull, line);
	enum jp_json_token token = jp_jsonpull_next(&pull);
	if (token == JP_JSON_BAD)
		return jp_jsonpull_error(&pull, r->name, r->line, r->err);
	if (token != JP_JSON_OBJECT)
		return jp_error(r->err, JPROF_E_FORMAT, r->name, r->line, "is no object of ObjectSpace.dump_all");
	rc = read_object_members(r, &pull, &s);
	if (rc)
		return rc;
	if (!s.type.raw.ptr)
		return jp_error(r->err, JPROF_E_FORMAT, r->name, r->line,
		                "is no object of ObjectSpace.dump_all: no type");
	return jp_json_means(&s.type, "SHAPE") ? 0 : add_heap_object(r, &s);
}

/* All edges in the order of their nodes; those of Ruby, the last node, lead to the roots. */
static int order_heap_edges(struct heap_reader *r)
{
	struct jp_heap *heap = r->heap;
	struct jp_graph *graph = &heap->graph;
	size_t roots = r->roots.count, edges = r->to_count + roots;
	if (edges >= UINT32_MAX)
		return jp_error(r->err, JPROF_E_UNSUPPORTED, r->name, 0, "more than 4 billion references");
	graph->nodes = heap->count + 1;
	graph->first = calloc((size_t)graph->nodes + 2, sizeof *graph->first);
	graph->to = malloc((edges + 1) * sizeof *graph->to);
	if (!graph->first || !graph->to)
		return jp_error_nomem(r->err);
	for (size_t i = 0; i < r->run_count; i++)
		graph->first[(size_t)r->runs[i].from + 2] += r->runs[i].count;
	graph->first[(size_t)heap->count + 2] = (uint32_t)roots;
	for (uint32_t i = 1; i <= graph->nodes; i++)
		graph->first[i + 1] += graph->first[i];
	const uint32_t *from = r->to;
	for (size_t i = 0; i < r->run_count; from += r->runs[i++].count) {
		uint32_t *place = &graph->first[(size_t)r->runs[i].from + 1];
		if (r->runs[i].count)
			memcpy(graph->to + *place, from, r->runs[i].count * sizeof *from);
		*place += r->runs[i].count;
	}
	for (uint32_t id = 0; id < heap->count; id++)
		if (heap->objects[id].type == JP_HEAP_ROOT)
			graph->to[graph->first[(size_t)heap->count + 1]++] = id;
	return 0;
}

static int read_object_lines(struct heap_reader *r, struct jp_stream *stream)
{
	struct jp_reader lines;
	struct jp_span line;
	jp_reader_init_window(&lines, &stream->window);
	while (jp_reader_line(&lines, &line)) {
		r->line = lines.line;
		jp_span_blanks(&line);
		if (!line.len)
			continue;
		int rc = read_object_line(r, line);
		if (rc == JPROF_E_FORMAT && lines.cut && r->heap->count) {
			r->heap->cut = true;
			break;
		}
		if (rc)
			return rc;
	}
	return jp_stream_trouble(stream, r->err);
}

int jp_heap_read(struct jp_heap *heap, const char *path, bool texts, struct jprof_error *err)
{
	struct heap_reader r = { .heap = heap, .name = path, .texts = texts, .err = err };
	struct jp_stream stream;
	int rc = jp_stream_open(&stream, path, err);
	if (!rc)
		rc = read_object_lines(&r, &stream);
	if (!rc && !r.roots.count)
		rc = jp_error(err, JPROF_E_FORMAT, path, 0,
		              heap->count ? "has no roots: ObjectSpace.dump_all writes them, with full: true too"
		                          : "is empty");
	jp_stream_release(&stream);
	if (!rc) {
		jp_index_release(&r.ids);
		rc = order_heap_edges(&r);
	}
	jp_index_release(&r.ids);
	jp_intern_release(&r.roots);
	jp_strbuf_release(&r.text);
	free(r.asked);
	free(r.found);
	free(r.runs);
	free(r.to);
	return rc;
}

void jp_heap_release(struct jp_heap *heap)
{
	free(heap->objects);
	free(heap->addresses);
	jp_graph_release(&heap->graph);
	jp_intern_release(&heap->words);
	jp_intern_release(&heap->texts);
	free(heap->says);
	*heap = (struct jp_heap){ 0 };
}
