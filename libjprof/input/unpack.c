#include "input/unpack.h"

#include <archive.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/error.h"
#include "base/reader.h"

enum { max_layers = 2, gzip_or_zlib = 15 + 32, packed_piece = 1 << 16 };

const struct jp_unpack_limits jp_unpack_default = { .size = UINT64_C(8) << 30,
	                                            .free_size = UINT64_C(256) << 20,
	                                            .ratio = 1000 };

/* A source of what another one's bytes stand for. */
struct unpack {
	struct jp_bytesource source;
	struct jp_window packed; /* what of it is not used yet, and where more comes from */
	const char *name;
	const struct jp_unpack_limits *limits;
	struct jprof_error *fault;
	uint64_t used, made; /* bytes */
	bool ended;
	z_stream z;        /* of gzip */
	struct archive *a; /* of the others */
};

typedef int pull_fn(struct jp_bytesource *source, char *to, size_t room, size_t *got, struct jprof_error *err);
typedef int begin_fn(struct unpack *u, struct jprof_error *err);
static pull_fn pull_gzip, pull_archive;
static begin_fn begin_gzip, begin_bzip2, begin_xz, begin_zstd;

static const struct kind {
	const char *magic;
	begin_fn *begin;
	pull_fn *pull;
} kinds[] = {
	{ "\037\213", begin_gzip, pull_gzip },
	{ "\xfd"
	  "7zXZ",
	  begin_xz, pull_archive },
	{ "\x28\xb5\x2f\xfd", begin_zstd, pull_archive },
	{ "BZh", begin_bzip2, pull_archive },
};

static const struct kind *kind_of(const void *data, size_t len)
{
	for (size_t i = 0; i < jp_count(kinds); i++)
		if (jp_span_starts((struct jp_span){ data, len }, kinds[i].magic))
			return &kinds[i];
	return NULL;
}

bool jp_is_packed(const void *data, size_t len)
{
	return kind_of(data, len);
}

/* Counts `n` bytes more, and says when they are too many. */
static int count_made(struct unpack *u, size_t n, struct jprof_error *err)
{
	u->made += n;
	if (u->made > u->limits->size)
		return jp_error(err, JPROF_E_UNSUPPORTED, u->name, 0,
		                "unpacks to more than %llu MB, which is no profile; unpack it yourself to be sure",
		                (unsigned long long)(u->limits->size >> 20));
	if (u->made > u->limits->free_size && u->made / u->limits->ratio > u->used)
		return jp_error(
		    err, JPROF_E_UNSUPPORTED, u->name, 0,
		    "unpacks to more than %llu times its size, as a bomb does; unpack it yourself to be sure",
		    (unsigned long long)u->limits->ratio);
	return 0;
}

/* The first fault counts: what is around it is damaged because of it. */
static int damaged_data(struct unpack *u, const char *why)
{
	u->ended = true;
	if (!u->fault->code)
		jp_error(u->fault, JPROF_E_FORMAT, u->name, 0,
		         "the compressed data is cut or damaged (%s) after %llu bytes", why,
		         (unsigned long long)u->made);
	return 0;
}

/* What the packed source itself ended with, if that is no plain end. */
static int packed_trouble(const struct unpack *u, struct jprof_error *err)
{
	if (u->packed.rc && err)
		*err = u->packed.err;
	return u->packed.rc;
}

/* ---- gzip ----------------------------------------------------------------------------------- */

static int begin_gzip(struct unpack *u, struct jprof_error *err)
{
	return inflateInit2(&u->z, gzip_or_zlib) == Z_OK ? 0 : jp_error_nomem(err);
}

/* After the end of one member another may follow; anything else is padding, as gzip sees it. */
static bool next_member(struct unpack *u)
{
	jp_window_fill(&u->packed, 2);
	struct jp_span left = { u->packed.text + u->packed.at, u->packed.len - u->packed.at };
	return jp_span_starts(left, kinds[0].magic) && inflateReset(&u->z) == Z_OK;
}

/* One call of zlib: what it made goes to *got. */
static int inflate_some(struct unpack *u, char *to, size_t room, size_t *got)
{
	struct jp_window *in = &u->packed;
	size_t left = in->len - in->at;
	u->z.next_in = (Bytef *)in->text + in->at;
	u->z.avail_in = left < UINT_MAX ? (uInt)left : UINT_MAX;
	u->z.next_out = (Bytef *)to;
	u->z.avail_out = room < UINT_MAX ? (uInt)room : UINT_MAX;
	size_t before = u->z.avail_out, given = u->z.avail_in;
	int status = inflate(&u->z, Z_NO_FLUSH);
	in->at += given - u->z.avail_in;
	u->used += given - u->z.avail_in;
	*got = before - u->z.avail_out;
	return status;
}

static int pull_gzip(struct jp_bytesource *source, char *to, size_t room, size_t *got, struct jprof_error *err)
{
	struct unpack *u = (struct unpack *)source;
	for (*got = 0; !*got && !u->ended;) {
		jp_window_fill(&u->packed, 1);
		bool none = u->packed.at == u->packed.len;
		int status = inflate_some(u, to, room, got), rc = packed_trouble(u, err);
		if (rc || (rc = count_made(u, *got, err)))
			return rc;
		if (status == Z_MEM_ERROR)
			return jp_error_nomem(err);
		if (status == Z_STREAM_END)
			u->ended = !next_member(u);
		else if (status == Z_BUF_ERROR && none)
			damaged_data(u, "it ends too early");
		else if (status != Z_OK && status != Z_BUF_ERROR)
			damaged_data(u, u->z.msg ? u->z.msg : "zlib gives no reason");
	}
	return 0;
}

/* ---- the others --------------------------------------------------------------------------------- */

/* For libarchive: the next piece of the packed bytes; the last one is used up by then. */
static la_ssize_t give_packed(struct archive *a, void *context, const void **piece)
{
	struct unpack *u = context;
	struct jp_window *in = &u->packed;
	(void)a;
	jp_window_fill(in, 1);
	size_t n = in->len - in->at;
	*piece = in->text + in->at;
	in->at = in->len;
	u->used += n;
	return in->rc ? -1 : (la_ssize_t)n;
}

static const char *archive_words(const struct unpack *u, const char *otherwise)
{
	return archive_error_string(u->a) ? archive_error_string(u->a) : otherwise;
}

/* Where libarchive was built without a library for the filter it would start a program: not here. */
static int begin_archive(struct unpack *u, int (*support)(struct archive *), int filter, struct jprof_error *err)
{
	struct archive_entry *entry;
	u->a = archive_read_new();
	if (!u->a)
		return jp_error_nomem(err);
	if (support(u->a) != ARCHIVE_OK)
		return jp_error(err, JPROF_E_UNSUPPORTED, u->name, 0,
		                "is compressed in a way that this libarchive cannot undo; unpack it first");
	if (archive_read_support_format_raw(u->a) != ARCHIVE_OK ||
	    archive_read_open(u->a, u, NULL, give_packed, NULL) != ARCHIVE_OK ||
	    archive_filter_code(u->a, 0) != filter) {
		int rc = packed_trouble(u, err);
		return rc ? rc : damaged_data(u, archive_words(u, "its header is wrong"));
	}
	if (archive_read_next_header(u->a, &entry) == ARCHIVE_OK)
		return 0;
	int rc = packed_trouble(u, err);
	u->ended = true;
	return rc ? rc : archive_error_string(u->a) ? damaged_data(u, archive_words(u, "")) : 0;
}

static int pull_archive(struct jp_bytesource *source, char *to, size_t room, size_t *got, struct jprof_error *err)
{
	struct unpack *u = (struct unpack *)source;
	la_ssize_t n = u->ended ? 0 : archive_read_data(u->a, to, room);
	int rc = packed_trouble(u, err);
	*got = n > 0 ? (size_t)n : 0;
	u->ended |= !n;
	if (rc)
		return rc;
	return n < 0 ? damaged_data(u, archive_words(u, "no reason is given")) : count_made(u, *got, err);
}

static int begin_bzip2(struct unpack *u, struct jprof_error *err)
{
	return begin_archive(u, archive_read_support_filter_bzip2, ARCHIVE_FILTER_BZIP2, err);
}

static int begin_xz(struct unpack *u, struct jprof_error *err)
{
	return begin_archive(u, archive_read_support_filter_xz, ARCHIVE_FILTER_XZ, err);
}

static int begin_zstd(struct unpack *u, struct jprof_error *err)
{
	return begin_archive(u, archive_read_support_filter_zstd, ARCHIVE_FILTER_ZSTD, err);
}

/* ---- windows -------------------------------------------------------------------------------------- */

static void close_unpack(struct jp_bytesource *source)
{
	struct unpack *u = (struct unpack *)source;
	if (u->source.pull == pull_gzip)
		inflateEnd(&u->z);
	archive_read_free(u->a);
	jp_window_release(&u->packed);
	free(u);
}

/* Puts an unpacking source between a window and its source, and looks at the first of what comes out. */
static int put_layer(struct jp_window *window, const struct kind *kind, const char *name,
                     const struct jp_unpack_limits *limits, struct jprof_error *fault, struct jprof_error *err)
{
	struct unpack *u = calloc(1, sizeof *u);
	if (!u)
		return jp_error_nomem(err);
	*u = (struct unpack){ .source = { kind->pull, close_unpack }, .name = name, .limits = limits, .fault = fault };
	u->packed = *window;
	*window = (struct jp_window){ .source = &u->source };
	int rc = kind->begin(u, err);
	if (rc)
		return rc;
	jp_window_fill(window, jp_sniff_enough);
	if (window->rc && err)
		*err = window->err;
	return window->rc;
}

int jp_unpack_window(struct jp_window *window, const char *name, const struct jp_unpack_limits *limits,
                     struct jprof_error *fault, struct jprof_error *err)
{
	for (int layer = 0;; layer++) {
		const struct kind *kind = kind_of(window->text + window->at, window->len - window->at);
		if (!kind)
			return 0;
		if (layer == max_layers)
			return jp_error(err, JPROF_E_UNSUPPORTED, name, 0,
			                "is compressed more than %d times over; unpack it first", max_layers);
		int rc = put_layer(window, kind, name, limits, fault, err);
		if (rc)
			return rc;
	}
}

int jp_unpack(const void *data, size_t len, const char *name, const struct jp_unpack_limits *limits,
              struct jp_strbuf *out, struct jprof_error *fault, struct jprof_error *err)
{
	struct jp_window jp_cleanup(jp_window_release) window = { .source = jp_bytesource_memory(data, len) };
	if (!window.source)
		return jp_error_nomem(err);
	jp_window_fill(&window, jp_sniff_enough);
	if (window.rc)
		return jp_error_nomem(err);
	int rc = jp_unpack_window(&window, name, limits, fault, err);
	while (!rc && window.len > window.at) {
		jp_strbuf_add(out, window.text + window.at, window.len - window.at);
		window.at = window.len;
		rc = out->failed ? jp_error_nomem(err) : 0;
		if (!rc && !jp_window_more(&window) && (rc = window.rc) && err)
			*err = window.err;
	}
	return rc;
}
