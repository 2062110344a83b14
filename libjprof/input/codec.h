/* The ways of compressing that are known, and what undoes each of them, a piece at a time. */
#pragma once

#include <stddef.h>

/* Both ends move on by what was used of them. */
struct jp_codec_piece {
	const unsigned char *in;
	size_t in_len;
	unsigned char *out;
	size_t out_len;
};

enum jp_codec_result {
	JP_CODEC_MORE, /* of either end */
	JP_CODEC_END,  /* of a stream; another may follow */
	JP_CODEC_BAD,  /* also what came of this step may be wrong */
	JP_CODEC_NOMEM,
};

struct jp_codec {
	const char *magic; /* what a stream begins with */
	/* What one stream needs; NULL: memory is short. NULL instead of the function: it is known, and not undone. */
	void *(*open)(void);
	/* *why is set for JP_CODEC_BAD: static text. */
	enum jp_codec_result (*step)(void *state, struct jp_codec_piece *piece, const char **why);
	void (*close)(void *state);
};

extern const struct jp_codec jp_codec_gzip, jp_codec_xz, jp_codec_zstd, jp_codec_bzip2;
