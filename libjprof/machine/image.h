/* A program or library as its loader would lay it out, for those that read its machine code: pieces of memory,
 * relocations, dynamic symbols and the bounds of functions. All of it comes from an untrusted file, and whoever fills
 * an image in (input/codeimage.h) owns it; nothing here reads beyond a piece. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A section with contents. */
struct jp_piece {
	uint64_t start; /* first, for jp_last_up_to */
	const unsigned char *bytes;
	size_t len;
	bool code;
	bool fixed;   /* once relocated it does not change: not writable, or made read-only by the loader */
	bool written; /* the loader may write to it, or the program */
	bool stubs;   /* of the linker: a call goes on from here to another function */
};

/* What the loader writes. */
struct jp_reloc {
	uint64_t at;     /* first, for jp_last_up_to */
	uint64_t value;  /* an address in the image; of a symbol, what is added to it */
	uint32_t symbol; /* JP_NONE: no symbol's */
	bool word;       /* an address of 8 bytes; of another only the symbol is known */
};

struct jp_dynamic_symbol {
	const char *name; /* never NULL */
	uint64_t value;   /* 0: another file defines it */
};

struct jp_function_bounds {
	uint64_t start, end; /* start first, for jp_last_up_to */
};

/* Arrays are sorted by their first members, which do not repeat; symbols are as relocations number them. */
struct jp_image {
	unsigned machine; /* e_machine: EM_X86_64 or EM_AARCH64 */
	bool placed;      /* linked to a fixed address, so that numbers in the code may be addresses */
	struct jp_piece *pieces;
	size_t piece_count;
	struct jp_reloc *relocs;
	size_t reloc_count;
	struct jp_dynamic_symbol *symbols;
	uint32_t symbol_count;
	uint32_t *by_value; /* symbols that the file defines, by value */
	size_t by_value_count;
	struct jp_function_bounds *functions;
	size_t function_count;
};

/* The piece that holds `address`, or NULL. */
const struct jp_piece *jp_image_piece(const struct jp_image *image, uint64_t address);

/* The bytes from `address` on: *len of them, up to the end of its piece. NULL: the file has none there. */
const unsigned char *jp_image_bytes(const struct jp_image *image, uint64_t address, size_t *len);

/* The little-endian word of 8 bytes as the file has it, before relocation; false: there is none. */
bool jp_image_word(const struct jp_image *image, uint64_t address, uint64_t *value);

/* The text that begins there in memory that does not change: 1 to 100 bytes of UTF-8 without control characters, ended
 * by a NUL. NULL: no such text. */
const char *jp_image_text(const struct jp_image *image, uint64_t address);

/* The address that the loader writes there; NULL: none. */
const struct jp_reloc *jp_image_reloc(const struct jp_image *image, uint64_t address);

/* The name of the symbol that what the loader writes there comes from; NULL: there is none. */
const char *jp_image_slot_name(const struct jp_image *image, uint64_t address);

/* The name of a symbol that the file defines at `address`, the first in its table; NULL: none. */
const char *jp_image_symbol_at(const struct jp_image *image, uint64_t address);

/* The function that holds `address`, or NULL; the second: one that begins there. */
const struct jp_function_bounds *jp_image_function(const struct jp_image *image, uint64_t address);
const struct jp_function_bounds *jp_image_begins(const struct jp_image *image, uint64_t address);
