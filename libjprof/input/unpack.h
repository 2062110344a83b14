/* Compressed bytes become the bytes that they stand for: gzip by zlib, which checks the sums that
 * libarchive leaves alone; xz, zstd and bzip2 by libarchive. No program is started. */
#ifndef JP_INPUT_UNPACK_H
#define JP_INPUT_UNPACK_H

#include <stdint.h>

#include "base/strbuf.h"
#include "jprof.h"

/* A small file must not fill the memory: more than `free_size` bytes are only unpacked while they
 * are at most `ratio` times what has been read, and never more than `size`. Real dumps compress
 * twenty-fold, a bomb a thousandfold and more. */
struct jp_unpack_limits {
	uint64_t size, free_size, ratio;
};

extern const struct jp_unpack_limits jp_unpack_default;

/* Whether these bytes begin like a compressed file of a kind that is known. */
bool jp_is_packed(const void *data, size_t len);

/* Appends to `out` what the bytes stand for; what is compressed twice is unpacked twice. Where they are
 * cut or damaged, what came before goes to `out`, *fault says so (code JPROF_E_FORMAT) and the result
 * is 0. Errors: a bomb, a kind that this libarchive cannot do, no memory. */
int jp_unpack(const void *data, size_t len, const char *name, const struct jp_unpack_limits *limits,
              struct jp_strbuf *out, struct jprof_error *fault, struct jprof_error *err);

#endif
