/* Names that were found before, as a file of the cache has them: offsets, and a reply that answers these.
 *
 * The bytes are little-endian and hold, one after the other and each filled up with NULs to a multiple of 4:
 *
 *   header     magic "jprofnmc", u32 version, u32 flags (1: places without a name were among them), u32 number of
 *              offsets, u32 size of the identity, u32 size of the reply
 *   offsets    u64 each, ascending and different
 *   identity   text: which files were asked, and what answered
 *   reply      as namereply.h has it, with a place for each offset
 *   sum        u64, a hash of all bytes before */
#ifndef JP_INPUT_STOREDNAMES_H
#define JP_INPUT_STOREDNAMES_H

#include "input/namereply.h"

/* All zero: nothing. What is read lives in the reply's arena. */
struct jp_stored_names {
	uint64_t *offsets;
	uint32_t count;
	bool nameless;             /* places without a name of the file's own were among them: the remarks have what
	                              was said of packs */
	struct jp_namereply reply; /* none that refuses the debug information */
};

/* Adds the bytes to `out`; out->failed where memory is short or it is too much. */
void jp_stored_names_write(const struct jp_stored_names *names, const struct jp_strbuf *identity,
                           struct jp_strbuf *out);

/* Reads such bytes, of this identity, from anybody: JPROF_E_FORMAT for all others, JPROF_E_NOMEM. Released either
 * way, by jp_namereply_release(&names->reply). */
int jp_stored_names_read(const void *data, size_t len, const struct jp_strbuf *identity,
                         struct jp_stored_names *names) jp_must_check;

/* Whether bytes that begin so may be such bytes; the first 8 are enough to know. */
bool jp_is_stored_names(const void *data, size_t len);

/* Whether a place is one of those that packs and code are asked for: see `nameless`. */
bool jp_is_nameless_place(const struct jp_reply_place *place);

#endif
