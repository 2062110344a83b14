#include "input/storednames.h"

#include <string.h>

#include "base/reader.h"

enum { stored_version = 2, nameless_flag = 1, stored_header = 28, sum_bytes = 8, stored_padding = 4 };

static const char stored_magic[8] = { 'j', 'p', 'r', 'o', 'f', 'n', 'm', 'c' };

bool jp_is_stored_names(const void *data, size_t len)
{
	return len >= sizeof stored_magic && !memcmp(data, stored_magic, sizeof stored_magic);
}

bool jp_is_nameless_place(const struct jp_reply_place *place)
{
	return place->source == JPROF_SOURCE_FDE || place->source == JPROF_SOURCE_PACK ||
	       place->source == JPROF_SOURCE_REGISTERED;
}

/* ---- writing ------------------------------------------------------------------------------------ */

static void pad_stored(struct jp_strbuf *out, size_t start)
{
	while ((out->len - start) % stored_padding && !out->failed)
		jp_strbuf_add(out, "", 1);
}

void jp_stored_names_write(const struct jp_stored_names *names, const struct jp_strbuf *identity, struct jp_strbuf *out)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) reply = { 0 };
	size_t start = out->len;
	jp_namereply_write(&names->reply, &reply);
	jp_strbuf_add(out, stored_magic, sizeof stored_magic);
	jp_strbuf_uint(out, stored_version, 4);
	jp_strbuf_uint(out, names->nameless ? nameless_flag : 0, 4);
	jp_strbuf_uint(out, names->count, 4);
	jp_strbuf_uint(out, identity->len, 4);
	jp_strbuf_uint(out, reply.len, 4);
	for (uint32_t i = 0; i < names->count; i++)
		jp_strbuf_uint(out, names->offsets[i], 8);
	jp_strbuf_add(out, identity->len ? identity->text : "", identity->len);
	pad_stored(out, start);
	jp_strbuf_add(out, reply.len ? reply.text : "", reply.len);
	out->failed = out->failed || reply.failed || identity->len > INT32_MAX;
	if (!out->failed)
		jp_strbuf_uint(out, jp_hash(stored_version, out->text + start, out->len - start), sum_bytes);
}

/* ---- reading ------------------------------------------------------------------------------------ */

static uint64_t with_padding(uint64_t size)
{
	return (size + stored_padding - 1) / stored_padding * stored_padding;
}

/* How large its parts are; false where they are not those of `len` bytes with that sum. */
static bool read_stored_header(struct jp_bytes *in, struct jp_stored_names *names, uint32_t *identity, uint32_t *reply)
{
	if (in->len < stored_header + sum_bytes || memcmp(in->data, stored_magic, sizeof stored_magic))
		return false;
	jp_bytes_seek(in, in->len - sum_bytes);
	uint64_t sum = jp_bytes_uint(in, sum_bytes);
	jp_bytes_seek(in, sizeof stored_magic);
	uint64_t version = jp_bytes_uint(in, 4), flags = jp_bytes_uint(in, 4);
	names->nameless = flags & nameless_flag;
	names->count = (uint32_t)jp_bytes_uint(in, 4);
	*identity = (uint32_t)jp_bytes_uint(in, 4);
	*reply = (uint32_t)jp_bytes_uint(in, 4);
	uint64_t all =
	    stored_header + (uint64_t)names->count * 8 + with_padding(*identity) + (uint64_t)*reply + sum_bytes;
	return version == stored_version && flags <= nameless_flag && all == in->len &&
	       sum == jp_hash(stored_version, in->data, in->len - sum_bytes);
}

static bool is_same_identity(struct jp_bytes *in, const struct jp_strbuf *identity)
{
	return !identity->len || !memcmp(in->data + in->pos, identity->text, identity->len);
}

/* Offsets stand from the position on: into the reply's arena. */
static int read_offsets(struct jp_bytes *in, struct jp_stored_names *names)
{
	bool wrong = false;
	struct jp_arena *arena = &names->reply.arena;
	names->offsets = jp_arena_alloc(arena, ((size_t)names->count + 1) * sizeof *names->offsets);
	if (!names->offsets)
		return JPROF_E_NOMEM;
	for (uint32_t i = 0; i < names->count; i++) {
		names->offsets[i] = jp_bytes_uint(in, 8);
		wrong = wrong || (i && names->offsets[i] <= names->offsets[i - 1]);
	}
	return wrong || in->bad ? JPROF_E_FORMAT : 0;
}

/* What the file may have of all that a reply may: no refusal, which may have come of a shortage of memory. */
static bool is_stored_reply(const struct jp_stored_names *names)
{
	const struct jp_namereply *r = &names->reply;
	bool refused = r->dwarf == JP_DWARF_REFUSED || r->dwarf == JP_DWARF_SHARED_REFUSED;
	for (uint32_t i = 0; i < r->place_count; i++)
		if (r->places[i].reason == JP_NAMELESS_PENDING)
			return false;
	return !r->want_count && !r->loss_count && r->place_count == names->count && !refused;
}

int jp_stored_names_read(const void *data, size_t len, const struct jp_strbuf *identity, struct jp_stored_names *names)
{
	struct jp_bytes in = { .data = data, .len = len };
	uint32_t identity_len, reply_len;
	*names = (struct jp_stored_names){ 0 };
	if (!read_stored_header(&in, names, &identity_len, &reply_len) || identity_len != identity->len)
		return JPROF_E_FORMAT;
	size_t offsets = in.pos;
	jp_bytes_seek(&in, offsets + (size_t)names->count * 8);
	if (!is_same_identity(&in, identity))
		return JPROF_E_FORMAT;
	int rc = jp_namereply_read(in.data + in.pos + with_padding(identity_len), reply_len, &names->reply);
	jp_bytes_seek(&in, offsets);
	if (!rc)
		rc = read_offsets(&in, names);
	return !rc && !is_stored_reply(names) ? JPROF_E_FORMAT : rc;
}
