/* docs/internals/packs.md has the format in full. Numbers are little-endian or, where it says number, LEB128.
 *
 *   "jprofnm1", u64 checksum (FNV-1a) of all that follows, unpacked; u32 machine, 4 strings, each with its NUL:
 *   soname, version, source, distribution; then, compressed with zstd (or xz, or as it is):
 *
 *   number of functions; and for all functions, one column after the other:
 *   numbers: size; 5 bytes: content; 3 bytes: names; numbers: how many callees, then each: 0, or 1 + the distance from
 *   the function (zigzag); strings: the name */
#include "input/namepack.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/checksum.h"
#include "base/error.h"
#include "base/reader.h"
#include "input/unpack.h"

enum { magic_bytes = 8, content_bytes = 5, named_bytes = 3, least_function = 1 + content_bytes + named_bytes + 1 + 1 };
enum { longest_label_text = 400, summed_from = magic_bytes + 8 };

static const char pack_magic[] = "jprofnm1";
static const struct jp_unpack_limits pack_limits = { .size = 64 << 20, .free_size = 4 << 20, .ratio = 100 };

/* ---- reading ------------------------------------------------------------------------------------ */

static uint64_t sized_uint(struct jp_bytes *b, unsigned size)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < size; i++)
		value |= jp_bytes_uint(b, 1) << 8 * i;
	return value;
}

static const char *label_text(struct jp_bytes *b, struct jp_arena *arena, bool *short_of_memory)
{
	const char *text = jp_bytes_cstr(b);
	if (!text || strlen(text) > longest_label_text) {
		b->bad = true;
		return "";
	}
	const char *copy = jp_arena_dup(arena, text, strlen(text));
	*short_of_memory = *short_of_memory || !copy;
	return copy;
}

/* Leaves b behind the label. */
static int read_label(struct jp_bytes *b, struct jp_arena *arena, struct jp_namepack_label *label, uint64_t *fnv,
                      struct jprof_error *err)
{
	bool short_of_memory = false;
	if (b->len < magic_bytes || memcmp(b->data, pack_magic, magic_bytes) != 0)
		return jp_error(err, JPROF_E_FORMAT, NULL, 0, "is no pack of names of this version of jprof");
	jp_bytes_seek(b, magic_bytes);
	*fnv = jp_bytes_uint(b, 8);
	label->machine = (unsigned)jp_bytes_uint(b, 4);
	label->soname = label_text(b, arena, &short_of_memory);
	label->version = label_text(b, arena, &short_of_memory);
	label->source = label_text(b, arena, &short_of_memory);
	label->distribution = label_text(b, arena, &short_of_memory);
	if (short_of_memory)
		return jp_error_nomem(err);
	return b->bad ? jp_error(err, JPROF_E_FORMAT, NULL, 0, "is cut off or damaged") : 0;
}

int jp_namepack_label_read(const void *data, size_t len, struct jp_arena *arena, struct jp_namepack_label *label,
                           struct jprof_error *err)
{
	struct jp_bytes b = { .data = data, .len = len };
	uint64_t fnv = 0;
	return read_label(&b, arena, label, &fnv, err);
}

static bool read_callees(struct jp_bytes *b, struct jp_namepack *pack, struct jp_packed_function *function)
{
	uint32_t own = (uint32_t)(function - pack->functions);
	uint64_t count = jp_bytes_uleb(b);
	if (b->bad || count > b->len - b->pos)
		return false;
	function->callee_first = pack->callee_count;
	function->callee_count = (uint32_t)count;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t coded = jp_bytes_uleb(b), zigzag = coded - 1;
		int64_t distance = (int64_t)(zigzag >> 1) ^ -(int64_t)(zigzag & 1);
		uint64_t callee = own + (uint64_t)distance;
		if (b->bad || (coded && callee >= pack->count))
			return false;
		pack->callees[pack->callee_count++] = coded ? (uint32_t)callee : UINT32_MAX;
	}
	return true;
}

/* The columns. What `b` holds outlives the pack. False where they do not fit. */
static bool read_columns(struct jp_bytes *b, struct jp_namepack *pack)
{
	struct jp_packed_function *f = pack->functions;
	for (uint32_t i = 0; i < pack->count; i++) {
		uint64_t size = jp_bytes_uleb(b);
		f[i].size = (uint32_t)size;
		b->bad = b->bad || size > UINT32_MAX;
	}
	for (uint32_t i = 0; i < pack->count; i++)
		f[i].content = sized_uint(b, content_bytes);
	for (uint32_t i = 0; i < pack->count; i++)
		f[i].named = (uint32_t)sized_uint(b, named_bytes);
	for (uint32_t i = 0; i < pack->count; i++)
		if (b->bad || !read_callees(b, pack, &f[i]))
			return false;
	for (uint32_t i = 0; i < pack->count; i++)
		f[i].name = jp_bytes_cstr(b);
	return !b->bad && b->pos == b->len;
}

static int read_body(struct jp_bytes *b, struct jp_namepack *pack, struct jprof_error *err)
{
	uint64_t count = jp_bytes_uleb(b);
	if (b->bad || count > (b->len - b->pos) / least_function)
		return jp_error(err, JPROF_E_FORMAT, NULL, 0, "says that it has more functions than it has bytes for");
	pack->count = (uint32_t)count;
	pack->functions = jp_arena_alloc(&pack->arena, (size_t)(count + 1) * sizeof *pack->functions);
	pack->callees = jp_arena_alloc(&pack->arena, (b->len - b->pos + 1) * sizeof *pack->callees);
	if (!pack->functions || !pack->callees)
		return jp_error_nomem(err);
	return read_columns(b, pack) ? 0 : jp_error(err, JPROF_E_FORMAT, NULL, 0, "is damaged");
}

int jp_namepack_read(const void *data, size_t len, struct jp_namepack *pack, struct jprof_error *err)
{
	struct jp_bytes b = { .data = data, .len = len };
	struct jp_strbuf jp_cleanup(jp_strbuf_release) body = { 0 };
	struct jprof_error fault = { 0 };
	uint64_t fnv = 0;
	*pack = (struct jp_namepack){ 0 };
	int rc = read_label(&b, &pack->arena, &pack->label, &fnv, err);
	struct jp_checksum sum = jp_checksum_none();
	if (rc)
		return rc;
	jp_checksum_add(&sum, b.data + summed_from, b.pos - summed_from);
	if (jp_is_packed(b.data + b.pos, len - b.pos))
		rc = jp_unpack(b.data + b.pos, len - b.pos, "pack", &pack_limits, &body, &fault, err);
	else
		jp_strbuf_add(&body, b.data + b.pos, len - b.pos);
	if (rc || body.failed)
		return rc ? rc : jp_error_nomem(err);
	jp_checksum_add(&sum, body.text, body.len);
	if (fault.code || sum.fnv != fnv)
		return jp_error(err, JPROF_E_FORMAT, NULL, 0, "is cut off or damaged");
	char *kept = jp_arena_dup(&pack->arena, body.text ? body.text : "", body.len);
	b = (struct jp_bytes){ .data = (const unsigned char *)kept, .len = body.len };
	return kept ? read_body(&b, pack, err) : jp_error_nomem(err);
}

void jp_namepack_release(struct jp_namepack *pack)
{
	jp_arena_release(&pack->arena);
	*pack = (struct jp_namepack){ 0 };
}

/* ---- writing ------------------------------------------------------------------------------------ */

static void put_callees(struct jp_strbuf *out, const struct jp_namepack *pack, uint32_t function)
{
	const struct jp_packed_function *f = &pack->functions[function];
	jp_strbuf_uleb(out, f->callee_count);
	for (uint32_t i = 0; i < f->callee_count; i++) {
		uint32_t callee = pack->callees[f->callee_first + i];
		int64_t distance = (int64_t)callee - function;
		jp_strbuf_uleb(
		    out, callee == UINT32_MAX ? 0 : 1 + ((uint64_t)distance << 1 ^ (distance < 0 ? UINT64_MAX : 0)));
	}
}

static void put_columns(struct jp_strbuf *out, const struct jp_namepack *pack)
{
	const struct jp_packed_function *f = pack->functions;
	jp_strbuf_uleb(out, pack->count);
	for (uint32_t i = 0; i < pack->count; i++)
		jp_strbuf_uleb(out, f[i].size);
	for (uint32_t i = 0; i < pack->count; i++)
		jp_strbuf_uint(out, f[i].content, content_bytes);
	for (uint32_t i = 0; i < pack->count; i++)
		jp_strbuf_uint(out, f[i].named, named_bytes);
	for (uint32_t i = 0; i < pack->count; i++)
		put_callees(out, pack, i);
	for (uint32_t i = 0; i < pack->count; i++)
		jp_strbuf_add(out, f[i].name, strlen(f[i].name) + 1);
}

/* Half of the body are hashes, which nothing can pack: xz makes it hardly smaller, and reads it in ten times the time.
 */
static int add_body(const struct jp_strbuf *body, struct jp_strbuf *out)
{
	size_t bound = ZSTD_compressBound(body->len);
	char *packed = malloc(bound + 1);
	size_t len = packed ? ZSTD_compress(packed, bound, body->text, body->len, ZSTD_maxCLevel()) : 0;
	bool done = packed && !ZSTD_isError(len);
	if (done)
		jp_strbuf_add(out, packed, len);
	free(packed);
	return done && !out->failed ? 0 : -1;
}

int jp_namepack_write(const struct jp_namepack *pack, struct jp_strbuf *out, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) label = { 0 }, jp_cleanup(jp_strbuf_release) body = { 0 };
	const char *texts[] = { pack->label.soname, pack->label.version, pack->label.source, pack->label.distribution };
	struct jp_checksum sum = jp_checksum_none();
	jp_strbuf_uint(&label, pack->label.machine, 4);
	for (size_t i = 0; i < jp_count(texts); i++) {
		if (strlen(texts[i]) > longest_label_text)
			return jp_error(err, JPROF_E_ARGUMENT, NULL, 0, "a text about the pack has more than %d bytes",
			                longest_label_text);
		jp_strbuf_add(&label, texts[i], strlen(texts[i]) + 1);
	}
	put_columns(&body, pack);
	if (label.failed || body.failed)
		return jp_error_nomem(err);
	jp_checksum_add(&sum, label.text, label.len);
	jp_checksum_add(&sum, body.text, body.len);
	jp_strbuf_add(out, pack_magic, magic_bytes);
	jp_strbuf_uint(out, sum.fnv, 8);
	jp_strbuf_add(out, label.text, label.len);
	return out->failed || add_body(&body, out) ? jp_error_nomem(err) : 0;
}
