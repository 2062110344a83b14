/* Built with libbz2. */
#include <bzlib.h>
#include <limits.h>
#include <stdlib.h>

#include "input/codec.h"

static void *open_bzip2(void)
{
	bz_stream *b = calloc(1, sizeof *b);
	if (b && BZ2_bzDecompressInit(b, 0, 0) != BZ_OK) {
		free(b);
		return NULL;
	}
	return b;
}

static enum jp_codec_result step_bzip2(void *state, struct jp_codec_piece *p, const char **why)
{
	bz_stream *b = state;
	unsigned in = p->in_len < UINT_MAX ? (unsigned)p->in_len : UINT_MAX;
	unsigned out = p->out_len < UINT_MAX ? (unsigned)p->out_len : UINT_MAX;
	b->next_in = (char *)p->in;
	b->avail_in = in;
	b->next_out = (char *)p->out;
	b->avail_out = out;
	int status = BZ2_bzDecompress(b);
	*p = (struct jp_codec_piece){ p->in + (in - b->avail_in), p->in_len - (in - b->avail_in),
		                      p->out + (out - b->avail_out), p->out_len - (out - b->avail_out) };
	*why = status == BZ_DATA_ERROR_MAGIC ? "its header is wrong" : "its data are wrong";
	return status == BZ_STREAM_END  ? JP_CODEC_END
	       : status == BZ_OK        ? JP_CODEC_MORE
	       : status == BZ_MEM_ERROR ? JP_CODEC_NOMEM
	                                : JP_CODEC_BAD;
}

static void close_bzip2(void *state)
{
	if (state)
		BZ2_bzDecompressEnd(state);
	free(state);
}

const struct jp_codec jp_codec_bzip2 = { "BZh", open_bzip2, step_bzip2, close_bzip2 };
