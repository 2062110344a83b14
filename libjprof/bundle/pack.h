/* A tar archive on its way through a compressor, a piece at a time. */
#pragma once

#include "base/strbuf.h"
#include "jprof.h"

struct jp_pack;

/* Begins a compressed stream; what comes of it is appended to `out`, the last only by jp_pack_close. Streams put
 * behind one another unpack as one. */
int jp_pack_open(enum jprof_compression compression, struct jp_strbuf *out, struct jp_pack **pack,
                 struct jprof_error *err);

/* Begins a file of the archive: what is put next are its `size` bytes, and then jp_pack_pad. The header has
 * neither time nor owner: equal files make equal archives. `name` has less than 100 bytes. */
int jp_pack_header(struct jp_pack *pack, const char *name, uint64_t size, struct jprof_error *err);
int jp_pack_put(struct jp_pack *pack, const void *data, size_t len, struct jprof_error *err);
int jp_pack_pad(struct jp_pack *pack, uint64_t size, struct jprof_error *err);

/* The blocks that end an archive. */
int jp_pack_end(struct jp_pack *pack, struct jprof_error *err);

/* Ends the stream. The pack is freed, whatever the result. */
int jp_pack_close(struct jp_pack *pack, struct jprof_error *err);

/* Frees it without ending the stream; NULL is fine. */
void jp_pack_drop(struct jp_pack *pack);
