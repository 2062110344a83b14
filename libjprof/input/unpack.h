/* Compressed bytes become the bytes that they stand for, a piece at a time: codec.h has the ways of compressing. No
 * program is started. */
#pragma once

#include <stdint.h>

#include "base/bytesource.h"
#include "base/strbuf.h"
#include "jprof.h"

/* So many first bytes tell what a file is, packed or not. */
enum { jp_sniff_enough = 512 };

/* A small file must not fill the memory: more than `free_size` bytes are only unpacked while they
 * are at most `ratio` times what has been read, and never more than `size`. Real dumps compress
 * twenty-fold, a bomb a thousandfold and more. */
struct jp_unpack_limits {
	uint64_t size, free_size, ratio;
};

extern const struct jp_unpack_limits jp_unpack_default;

/* Whether these bytes begin like a compressed file of a kind that is known. */
bool jp_is_packed(const void *data, size_t len);

/* While what a window holds begins like a compressed file, its source becomes one of what it stands for; what is
 * compressed twice is unpacked twice. The window then holds the first of that. Where the compressed data is cut or
 * damaged, the window ends there and *fault says so (code JPROF_E_FORMAT). Errors, here or in window->rc later: a
 * bomb, a kind that this build cannot do, no memory. `name` and `fault` must outlive the window. */
int jp_unpack_window(struct jp_window *window, const char *name, const struct jp_unpack_limits *limits,
                     struct jprof_error *fault, struct jprof_error *err);

/* Appends to `out` what the bytes stand for, whole. As above; what came before the damage goes to `out`. */
int jp_unpack(const void *data, size_t len, const char *name, const struct jp_unpack_limits *limits,
              struct jp_strbuf *out, struct jprof_error *fault, struct jprof_error *err);
