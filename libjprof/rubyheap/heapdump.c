#include "rubyheap/heapdump.h"

#include <string.h>

#include "base/error.h"
#include "base/jsonpull.h"
#include "base/strbuf.h"
#include "input/stream.h"

struct heap_reader {
	struct jp_heap_builder b;
	struct jp_strbuf text;
};

static uint64_t address_in(const struct jp_json_text *text)
{
	struct jp_span span = text->raw;
	uint64_t address = 0;
	if (!jp_span_text(&span, "0x") || jp_span_hex(&span, &address) != JP_NUMBER_OK || span.len)
		return 0;
	return address;
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
	return r->text.failed ? JP_NONE : jp_intern(&r->b.heap->words, r->text.text ? r->text.text : "", r->text.len);
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
		int rc = address ? jp_heap_ask(&r->b, address, JP_NONE) : 0;
		if (rc)
			return rc;
	}
	if (token != JP_JSON_CLOSE)
		return jp_error(r->b.err, JPROF_E_FORMAT, r->b.name, r->b.line,
		                "references that are no list of addresses");
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
	case MEMBER_ADDRESS: r->b.asked[own_address] = address_in(text); break;
	case MEMBER_CLASS: r->b.asked[class_address] = address_in(text); break;
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
			return jp_jsonpull_error(pull, r->b.name, r->b.line, r->b.err);
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
			return jp_jsonpull_error(pull, r->b.name, r->b.line, r->b.err);
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
			return jp_error_nomem(r->b.err);
	}
	if (s->method.raw.ptr) {
		put_json_meaning(r, &s->method);
		if ((object->method = word_id(r)) == JP_NONE)
			return jp_error_nomem(r->b.err);
	}
	if (s->file.raw.ptr) {
		put_json_meaning(r, &s->file);
		jp_strbuf_str(&r->text, ":");
		jp_strbuf_add(&r->text, s->line.len ? s->line.ptr : "0", s->line.len ? s->line.len : 1);
		if ((object->site = word_id(r)) == JP_NONE)
			return jp_error_nomem(r->b.err);
	}
	return 0;
}

/* What a String says becomes a text of the heap. */
static int keep_meaning(struct heap_reader *r, const struct said_object *s, uint32_t node)
{
	if (!r->b.texts || s->object.type != JP_HEAP_STRING || !s->value.raw.ptr)
		return 0;
	put_json_meaning(r, &s->value);
	uint32_t says =
	    r->text.failed ? JP_NONE : jp_intern(&r->b.heap->texts, r->text.text ? r->text.text : "", r->text.len);
	r->b.heap->says[node] = says;
	return says == JP_NONE ? jp_error_nomem(r->b.err) : 0;
}

static int add_heap_object(struct heap_reader *r, struct said_object *s)
{
	s->object.type = (uint8_t)(s->singleton ? JP_HEAP_SINGLETON : heap_type_of(&s->type));
	int rc = name_object(r, s);
	rc = rc ? rc : jp_heap_add(&r->b, &s->object);
	return rc ? rc : keep_meaning(r, s, r->b.found[own_address]);
}

static int read_object_line(struct heap_reader *r, struct jp_span line)
{
	struct jp_jsonpull pull;
	struct said_object s = { 0 };
	int rc = jp_heap_begin(&r->b);
	if (rc)
		return rc;
	jp_jsonpull_init(&pull, line);
	enum jp_json_token token = jp_jsonpull_next(&pull);
	if (token == JP_JSON_BAD)
		return jp_jsonpull_error(&pull, r->b.name, r->b.line, r->b.err);
	if (token != JP_JSON_OBJECT)
		return jp_error(r->b.err, JPROF_E_FORMAT, r->b.name, r->b.line, "is no object of ObjectSpace.dump_all");
	rc = read_object_members(r, &pull, &s);
	if (rc)
		return rc;
	if (!s.type.raw.ptr)
		return jp_error(r->b.err, JPROF_E_FORMAT, r->b.name, r->b.line,
		                "is no object of ObjectSpace.dump_all: no type");
	return jp_json_means(&s.type, "SHAPE") ? 0 : add_heap_object(r, &s);
}

static int read_object_lines(struct heap_reader *r, struct jp_stream *stream)
{
	struct jp_reader lines;
	struct jp_span line;
	jp_reader_init_window(&lines, &stream->window);
	while (jp_reader_line(&lines, &line)) {
		r->b.line = lines.line;
		jp_span_blanks(&line);
		if (!line.len)
			continue;
		int rc = read_object_line(r, line);
		if (rc == JPROF_E_FORMAT && lines.cut && r->b.heap->count) {
			r->b.heap->cut = true;
			break;
		}
		if (rc)
			return rc;
	}
	return jp_stream_trouble(stream, r->b.err);
}

int jp_heap_read(struct jp_heap *heap, const char *path, bool texts, struct jprof_error *err)
{
	struct heap_reader r = { .b = { .heap = heap, .name = path, .texts = texts, .err = err } };
	struct jp_stream stream;
	int rc = jp_stream_open(&stream, path, err);
	if (!rc)
		rc = read_object_lines(&r, &stream);
	if (!rc && !r.b.roots.count)
		rc = jp_error(err, JPROF_E_FORMAT, path, 0,
		              heap->count ? "has no roots: ObjectSpace.dump_all writes them, with full: true too"
		                          : "is empty");
	jp_stream_release(&stream);
	rc = rc ? rc : jp_heap_conclude(&r.b);
	jp_heap_builder_release(&r.b);
	jp_strbuf_release(&r.text);
	return rc;
}
