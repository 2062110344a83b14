/* Structs as flat bytes that one process hands to another, or to a file: little-endian numbers, and behind them a text
 * in which each string stands once, ended by a NUL. A string among the numbers is its u32 position in the text, or
 * 0xffffffff: none.
 *
 * The functions go either way: they write a value and return it, or they read it from anybody's bytes and return that.
 * So a format is one function, which lists its values once. */
#pragma once

#include "base/intern.h"
#include "base/reader.h"
#include "base/strbuf.h"

struct jp_flat {
	struct jp_strbuf *out; /* the numbers are written to it; NULL: they are read */
	struct jp_bytes in;    /* ... from here */
	const char *text;      /* what is read has its strings here; NULL: they are passed over */
	size_t text_len;       /* of it, or of what was written */
	bool wrong;            /* what was read is not sound, or memory is short */
	struct jp_intern strings;
	struct jp_strbuf written; /* the text */
	uint32_t *at;             /* where each string stands in it */
	size_t at_cap;
};

void jp_flat_release(struct jp_flat *flat);

/* The first bytes: 8 that say what they are, and a version. */
void jp_flat_begin(struct jp_flat *flat, const char magic[8], uint32_t version);

/* A number; one that is larger than `most` is wrong to read. */
uint32_t jp_flat_u32(struct jp_flat *flat, uint32_t value, uint32_t most);
uint64_t jp_flat_u64(struct jp_flat *flat, uint64_t value);

/* A string or NULL. What is read lives as long as the text. */
const char *jp_flat_text(struct jp_flat *flat, const char *string);
