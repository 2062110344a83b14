#include "input/codec.h"

#include <limits.h>
#include <lzma.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

enum { gzip_or_zlib = 15 + 32 };

/* Enough for any level of xz; a header may ask for 4 GiB. */
#define XZ_MEMORY (UINT64_C(1) << 30)

/* ---- gzip ------------------------------------------------------------------------------------------------- */

static void *open_gzip(void)
{
	z_stream *z = calloc(1, sizeof *z);
	if (z && inflateInit2(z, gzip_or_zlib) != Z_OK) {
		free(z);
		return NULL;
	}
	return z;
}

static enum jp_codec_result step_gzip(void *state, struct jp_codec_piece *p, const char **why)
{
	z_stream *z = state;
	uInt in = p->in_len < UINT_MAX ? (uInt)p->in_len : UINT_MAX;
	uInt out = p->out_len < UINT_MAX ? (uInt)p->out_len : UINT_MAX;
	z->next_in = (Bytef *)p->in;
	z->avail_in = in;
	z->next_out = p->out;
	z->avail_out = out;
	int status = inflate(z, Z_NO_FLUSH);
	*p = (struct jp_codec_piece){ p->in + (in - z->avail_in), p->in_len - (in - z->avail_in),
		                      p->out + (out - z->avail_out), p->out_len - (out - z->avail_out) };
	*why = z->msg ? z->msg : "zlib gives no reason";
	return status == Z_STREAM_END                    ? JP_CODEC_END
	       : status == Z_OK || status == Z_BUF_ERROR ? JP_CODEC_MORE
	       : status == Z_MEM_ERROR                   ? JP_CODEC_NOMEM
	                                                 : JP_CODEC_BAD;
}

static void close_gzip(void *state)
{
	if (state)
		inflateEnd(state);
	free(state);
}

const struct jp_codec jp_codec_gzip = { "\037\213", open_gzip, step_gzip, close_gzip };

/* ---- xz --------------------------------------------------------------------------------------------------- */

static void *open_xz(void)
{
	lzma_stream *x = calloc(1, sizeof *x);
	if (x && lzma_stream_decoder(x, XZ_MEMORY, 0) != LZMA_OK) {
		free(x);
		return NULL;
	}
	return x;
}

static const char *xz_words(lzma_ret status)
{
	switch (status) {
	case LZMA_FORMAT_ERROR: return "its header is wrong";
	case LZMA_OPTIONS_ERROR: return "it was made in a way that liblzma does not know";
	case LZMA_MEMLIMIT_ERROR: return "it needs more than 1 GiB of memory";
	default: return "its data are wrong";
	}
}

static enum jp_codec_result step_xz(void *state, struct jp_codec_piece *p, const char **why)
{
	lzma_stream *x = state;
	x->next_in = p->in;
	x->avail_in = p->in_len;
	x->next_out = p->out;
	x->avail_out = p->out_len;
	lzma_ret status = lzma_code(x, LZMA_RUN);
	*p = (struct jp_codec_piece){ x->next_in, x->avail_in, x->next_out, x->avail_out };
	*why = xz_words(status);
	return status == LZMA_STREAM_END                                                           ? JP_CODEC_END
	       : status == LZMA_OK || status == LZMA_BUF_ERROR || status == LZMA_UNSUPPORTED_CHECK ? JP_CODEC_MORE
	       : status == LZMA_MEM_ERROR                                                          ? JP_CODEC_NOMEM
	                                                                                           : JP_CODEC_BAD;
}

static void close_xz(void *state)
{
	if (state)
		lzma_end(state);
	free(state);
}

const struct jp_codec jp_codec_xz = { "\xfd"
	                              "7zXZ",
	                              open_xz, step_xz, close_xz };

/* ---- zstd ------------------------------------------------------------------------------------------------- */

static void *open_zstd(void)
{
	return ZSTD_createDStream();
}

static enum jp_codec_result step_zstd(void *state, struct jp_codec_piece *p, const char **why)
{
	ZSTD_inBuffer in = { p->in, p->in_len, 0 };
	ZSTD_outBuffer out = { p->out, p->out_len, 0 };
	size_t rest = ZSTD_decompressStream(state, &out, &in);
	*p = (struct jp_codec_piece){ p->in + in.pos, p->in_len - in.pos, p->out + out.pos, p->out_len - out.pos };
	*why = ZSTD_getErrorName(rest);
	if (ZSTD_isError(rest))
		return ZSTD_getErrorCode(rest) == ZSTD_error_memory_allocation ? JP_CODEC_NOMEM : JP_CODEC_BAD;
	return rest ? JP_CODEC_MORE : JP_CODEC_END;
}

static void close_zstd(void *state)
{
	ZSTD_freeDStream(state);
}

const struct jp_codec jp_codec_zstd = { "\x28\xb5\x2f\xfd", open_zstd, step_zstd, close_zstd };

const struct jp_codec jp_codec_bzip2 = { .magic = "BZh" };
