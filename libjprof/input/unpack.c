#include "input/unpack.h"

#include <archive.h>
#include <limits.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "base/reader.h"

enum { chunk_size = 1 << 16, max_layers = 2, gzip_or_zlib = 15 + 32 };

const struct jp_unpack_limits jp_unpack_default = { .size = UINT64_C(8) << 30,
	                                            .free_size = UINT64_C(256) << 20,
	                                            .ratio = 1000 };

/* One layer of compression on its way off. */
struct unpack {
	struct jp_span packed;
	const char *name;
	const struct jp_unpack_limits *limits;
	struct jp_strbuf *out;
	struct jprof_error *fault, *err;
	unsigned char chunk[chunk_size];
};

typedef int unpack_fn(struct unpack *u);
static unpack_fn unpack_gzip, unpack_bzip2, unpack_xz, unpack_zstd;

static const struct {
	const char *magic;
	unpack_fn *unpack;
} kinds[] = {
	{ "\037\213", unpack_gzip },
	{ "\xfd"
	  "7zXZ",
	  unpack_xz },
	{ "\x28\xb5\x2f\xfd", unpack_zstd },
	{ "BZh", unpack_bzip2 },
};

static unpack_fn *kind_of(struct jp_span data)
{
	for (size_t i = 0; i < jp_count(kinds); i++)
		if (jp_span_starts(data, kinds[i].magic))
			return kinds[i].unpack;
	return NULL;
}

bool jp_is_packed(const void *data, size_t len)
{
	return kind_of((struct jp_span){ data, len });
}

/* Takes `n` bytes from u->chunk, of which the input was the first `used` bytes. */
static int take(struct unpack *u, size_t n, uint64_t used)
{
	uint64_t size = (uint64_t)u->out->len + n;
	if (size > u->limits->size)
		return jp_error(u->err, JPROF_E_UNSUPPORTED, u->name, 0,
		                "unpacks to more than %llu MB, which is no profile; unpack it yourself to be sure",
		                (unsigned long long)(u->limits->size >> 20));
	if (size > u->limits->free_size && size / u->limits->ratio > used)
		return jp_error(
		    u->err, JPROF_E_UNSUPPORTED, u->name, 0,
		    "unpacks to more than %llu times its size, as a bomb does; unpack it yourself to be sure",
		    (unsigned long long)u->limits->ratio);
	jp_strbuf_add(u->out, u->chunk, n);
	return u->out->failed ? jp_error_nomem(u->err) : 0;
}

static int damaged(struct unpack *u, const char *why)
{
	jp_error(u->fault, JPROF_E_FORMAT, u->name, 0, "the compressed data is cut or damaged (%s) after %zu bytes",
	         why, u->out->len);
	return 0;
}

/* ---- gzip ----------------------------------------------------------------------------------- */

static void feed(struct unpack *u, z_stream *z, size_t *fed)
{
	size_t left = u->packed.len - *fed, n = left < UINT_MAX ? left : UINT_MAX;
	if (z->avail_in)
		return;
	z->next_in = (Bytef *)(uintptr_t)(u->packed.ptr + *fed);
	z->avail_in = (uInt)n;
	*fed += n;
}

/* After the end of one member another may follow; anything else is padding, as gzip sees it. */
static bool next_member(const struct unpack *u, z_stream *z, size_t fed)
{
	const char *rest = u->packed.ptr + fed - z->avail_in;
	struct jp_span left = { rest, u->packed.len - (size_t)(rest - u->packed.ptr) };
	return jp_span_starts(left, kinds[0].magic) && inflateReset(z) == Z_OK;
}

static int inflate_all(struct unpack *u, z_stream *z)
{
	size_t fed = 0;
	for (;;) {
		feed(u, z, &fed);
		z->next_out = u->chunk;
		z->avail_out = chunk_size;
		int status = inflate(z, Z_NO_FLUSH);
		int rc = take(u, chunk_size - z->avail_out, fed - z->avail_in);
		if (rc)
			return rc;
		if (status == Z_MEM_ERROR)
			return jp_error_nomem(u->err);
		if (status == Z_STREAM_END && !next_member(u, z, fed))
			return 0;
		if (status == Z_BUF_ERROR && fed == u->packed.len && !z->avail_in)
			return damaged(u, "it ends too early");
		if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
			return damaged(u, z->msg ? z->msg : "zlib gives no reason");
	}
}

static int unpack_gzip(struct unpack *u)
{
	z_stream z = { 0 };
	if (inflateInit2(&z, gzip_or_zlib) != Z_OK)
		return jp_error_nomem(u->err);
	int rc = inflate_all(u, &z);
	inflateEnd(&z);
	return rc;
}

/* ---- the others --------------------------------------------------------------------------------- */

static int read_all(struct unpack *u, struct archive *a)
{
	for (;;) {
		la_ssize_t n = archive_read_data(a, u->chunk, chunk_size);
		if (n < 0)
			return damaged(u, archive_error_string(a) ? archive_error_string(a) : "no reason is given");
		if (!n)
			return 0;
		/* How much of the input that took is not told; all of it is an upper bound. */
		int rc = take(u, (size_t)n, u->packed.len);
		if (rc)
			return rc;
	}
}

/* Where libarchive was built without a library for the filter it would start a program: not here. */
static int with_archive(struct unpack *u, int (*support)(struct archive *), int filter)
{
	struct archive_entry *entry;
	struct archive *a = archive_read_new();
	if (!a)
		return jp_error_nomem(u->err);
	int rc = 0;
	if (support(a) != ARCHIVE_OK)
		rc = jp_error(u->err, JPROF_E_UNSUPPORTED, u->name, 0,
		              "is compressed in a way that this libarchive cannot undo; unpack it first");
	else if (archive_read_support_format_raw(a) != ARCHIVE_OK ||
	         archive_read_open_memory(a, u->packed.ptr, u->packed.len) != ARCHIVE_OK ||
	         archive_filter_code(a, 0) != filter)
		rc = damaged(u, archive_error_string(a) ? archive_error_string(a) : "its header is wrong");
	else if (archive_read_next_header(a, &entry) == ARCHIVE_OK)
		rc = read_all(u, a);
	else if (archive_error_string(a))
		rc = damaged(u, archive_error_string(a));
	archive_read_free(a);
	return rc;
}

static int unpack_bzip2(struct unpack *u)
{
	return with_archive(u, archive_read_support_filter_bzip2, ARCHIVE_FILTER_BZIP2);
}

static int unpack_xz(struct unpack *u)
{
	return with_archive(u, archive_read_support_filter_xz, ARCHIVE_FILTER_XZ);
}

static int unpack_zstd(struct unpack *u)
{
	return with_archive(u, archive_read_support_filter_zstd, ARCHIVE_FILTER_ZSTD);
}

int jp_unpack(const void *data, size_t len, const char *name, const struct jp_unpack_limits *limits,
              struct jp_strbuf *out, struct jprof_error *fault, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) inner = { 0 };
	struct unpack u = { { data, len }, name, limits, out, fault, err, { 0 } };
	for (int layer = 0; layer < max_layers; layer++) {
		unpack_fn *unpack = kind_of(u.packed);
		int rc = unpack ? unpack(&u) : 0;
		if (rc || !unpack || fault->code || !jp_is_packed(out->text, out->len))
			return rc;
		jp_strbuf_release(&inner);
		inner = *out;
		*out = (struct jp_strbuf){ 0 };
		u.packed = (struct jp_span){ inner.text, inner.len };
	}
	return jp_error(err, JPROF_E_UNSUPPORTED, name, 0, "is compressed more than %d times over; unpack it first",
	                max_layers);
}
