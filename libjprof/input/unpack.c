#include "input/unpack.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/reader.h"
#include "input/codec.h"

enum { max_layers = 2, magic_room = 8 };

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
	const struct jp_codec *codec;
	void *state; /* of its stream */
};

/* RFC 8878, 3.1.2: a frame of zstd that stands for no bytes has one of 16 magics. pzstd begins each of its with one. */
static bool is_skippable_frame(const void *data, size_t len)
{
	return len >= 4 && (*(const unsigned char *)data & 0xf0) == 0x50 &&
	       !memcmp((const char *)data + 1, "\x2a\x4d\x18", 3);
}

static const struct jp_codec *codec_of(const void *data, size_t len)
{
	static const struct jp_codec *const codecs[] = { &jp_codec_gzip, &jp_codec_xz, &jp_codec_zstd,
		                                         &jp_codec_bzip2 };
	for (size_t i = 0; i < jp_count(codecs); i++)
		if (jp_span_starts((struct jp_span){ data, len }, codecs[i]->magic))
			return codecs[i];
	return is_skippable_frame(data, len) ? &jp_codec_zstd : NULL;
}

bool jp_is_packed(const void *data, size_t len)
{
	return codec_of(data, len);
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

/* ---- streams -------------------------------------------------------------------------------------- */

static int begin_stream(struct unpack *u, struct jprof_error *err)
{
	u->state = u->codec->open();
	return u->state ? 0 : jp_error_nomem(err);
}

/* Reads past zeros, and says how many they are. */
static uint64_t read_padding(struct jp_window *in)
{
	uint64_t zeros = 0;
	for (jp_window_fill(in, 1); in->at < in->len && !in->text[in->at]; jp_window_fill(in, 1)) {
		in->at++;
		zeros++;
	}
	return zeros;
}

/* After the end of one stream another may follow, as `cat a.gz b.gz` has it; in xz's format with zeros in fours between
 * them. Zeros up to the end are padding in each; what else is there was a stream before it was damaged, or never. */
static int next_stream(struct unpack *u, struct jprof_error *err)
{
	struct jp_window *in = &u->packed;
	uint64_t zeros = read_padding(in);
	bool legal = !zeros || (u->codec == &jp_codec_xz && zeros % 4 == 0);
	jp_window_fill(in, magic_room);
	int rc = packed_trouble(u, err);
	if (rc)
		return rc;
	u->ended = in->at == in->len;
	if (!u->ended && !(legal && codec_of(in->text + in->at, in->len - in->at) == u->codec))
		return damaged_data(u, "what follows the end of a stream is no stream");
	u->codec->close(u->state);
	u->state = NULL;
	return u->ended ? 0 : begin_stream(u, err);
}

/* One step of the codec: what it made goes to *got. */
static enum jp_codec_result codec_step(struct unpack *u, char *to, size_t room, size_t *got, const char **why)
{
	struct jp_window *in = &u->packed;
	struct jp_codec_piece piece = { (const unsigned char *)in->text + in->at, in->len - in->at, (unsigned char *)to,
		                        room };
	enum jp_codec_result result = u->codec->step(u->state, &piece, why);
	u->used += in->len - in->at - piece.in_len;
	in->at = in->len - piece.in_len;
	/* Of gzip all up to the fault counts. The others' sums are those of blocks, and a wrong one's bytes are
	 * garbage. */
	bool garbage = result == JP_CODEC_BAD && u->codec != &jp_codec_gzip;
	*got = garbage ? 0 : room - piece.out_len;
	return result;
}

static int pull_unpacked(struct jp_bytesource *source, char *to, size_t room, size_t *got, struct jprof_error *err)
{
	struct unpack *u = (struct unpack *)source;
	for (*got = 0; !*got && !u->ended;) {
		const char *why = NULL;
		jp_window_fill(&u->packed, 1);
		bool none = u->packed.at == u->packed.len;
		enum jp_codec_result result = codec_step(u, to, room, got, &why);
		int rc = packed_trouble(u, err);
		if (!rc)
			rc = count_made(u, *got, err);
		if (!rc && result == JP_CODEC_END)
			rc = next_stream(u, err);
		if (rc)
			return rc;
		if (result == JP_CODEC_NOMEM)
			return jp_error_nomem(err);
		if (result == JP_CODEC_BAD || (result == JP_CODEC_MORE && none && !*got))
			damaged_data(u, result == JP_CODEC_BAD ? why : "it ends too early");
	}
	return 0;
}

/* ---- windows -------------------------------------------------------------------------------------- */

static void close_unpack(struct jp_bytesource *source)
{
	struct unpack *u = (struct unpack *)source;
	u->codec->close(u->state);
	jp_window_release(&u->packed);
	free(u);
}

/* Puts an unpacking source between a window and its source, and looks at the first of what comes out. */
static int put_layer(struct jp_window *window, const struct jp_codec *codec, const char *name,
                     const struct jp_unpack_limits *limits, struct jprof_error *fault, struct jprof_error *err)
{
	if (!codec->open)
		return jp_error(err, JPROF_E_UNSUPPORTED, name, 0,
		                "is compressed by bzip2; unpack it first, by bunzip2");
	struct unpack *u = calloc(1, sizeof *u);
	if (!u)
		return jp_error_nomem(err);
	*u = (struct unpack){ .source = { pull_unpacked, close_unpack },
		              .name = name,
		              .limits = limits,
		              .fault = fault,
		              .codec = codec };
	u->packed = *window;
	*window = (struct jp_window){ .source = &u->source };
	int rc = begin_stream(u, err);
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
		const struct jp_codec *codec = codec_of(window->text + window->at, window->len - window->at);
		if (!codec)
			return 0;
		if (layer == max_layers)
			return jp_error(err, JPROF_E_UNSUPPORTED, name, 0,
			                "is compressed more than %d times over; unpack it first", max_layers);
		int rc = put_layer(window, codec, name, limits, fault, err);
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
