/* The answer to a jp_name_request, as a struct and as flat bytes (flat.h): what one process hands to another, and what
 * the cache of names keeps in a file.
 *
 * The bytes hold, one after the other and each a multiple of 4 bytes long:
 *
 *   header     magic "jprofnam", u32 version, u32 size of all, u32 state of the DWARF, u32 flags (1: a program,
 *              2: exports malloc, 4: kept, 8: nameless), strings: mallctl, remarks; u32 numbers of: places, frames,
 *              functions, wants, losses, bytes of text
 *   places     u64 vaddr, u64 and u64 bounds from .eh_frame, u32 number of frames, u32 source, u32 reason, u32 want,
 *              u32 flags (1: a wrapper)
 *   frames     u32 function, u32 line, u32 flags (1: inlined); those of the first place first
 *   functions  strings: name, brief, linkage, file
 *   wants      u64 unit, strings: name, dir
 *   losses     u64 unit, string: text
 *   text       strings, each ended by a NUL, filled up with NULs
 *   kept       of one that is kept: u64 offset of each place, string: identity; u64 a hash of all bytes before */
#pragma once

#include "base/arena.h"
#include "base/index.h"
#include "base/strbuf.h"
#include "jprof.h"

/* Why a place has no name, or not all of it. */
enum jp_nameless {
	JP_NAMED,
	JP_NAMELESS_OUTSIDE,  /* no segment with code holds the offset */
	JP_NAMELESS_FUNCTION, /* neither symbols nor debug information hold it; .eh_frame knows the function's bounds */
	JP_NAMELESS_CODE,     /* nothing does */
	JP_NAMELESS_PENDING,  /* what the file wants comes first */
	jp_nameless_count
};

/* What became of the debug information that was to be read. */
enum jp_dwarf_state {
	JP_DWARF_NONE,           /* none was to be read */
	JP_DWARF_USED,           /* it was read */
	JP_DWARF_REFUSED,        /* it cannot be: there are no places; ask again without */
	JP_DWARF_SHARED_REFUSED, /* the same, and what dwz moved out is to blame */
	jp_dwarf_state_count
};

struct jp_reply_place {
	uint64_t vaddr;              /* image-relative address; 0 outside */
	uint64_t fde_start, fde_end; /* bounds of the function from .eh_frame, or as asked; 0, 0: not known */
	uint32_t frame_first;        /* in the reply's frames, innermost first */
	uint32_t frame_count;
	enum jprof_source source;
	enum jp_nameless reason;
	uint32_t want; /* of a pending one, its place among the wants; else JP_NONE */
	bool wrapper;  /* nameless, and an allocation wrapper calls it */
};

struct jp_reply_frame {
	uint32_t function;
	uint32_t line; /* 0: not known */
	bool inlined;
};

/* NULL: not known. Without `linkage` there is no name either. */
struct jp_reply_function {
	const char *name;    /* demangled, with parameters */
	const char *brief;   /* without them */
	const char *linkage; /* as the linker or DWARF knows it */
	const char *file;
};

/* A .dwo file (split debug information) that is wanted: its name and the directory of its compilation, as written. */
struct jp_reply_want {
	uint64_t unit;
	const char *name;
	const char *dir; /* NULL: none */
};

/* A unit whose functions in a .dwo file cannot be read, and why. */
struct jp_reply_loss {
	uint64_t unit;
	const char *text;
};

struct jp_namereply {
	enum jp_dwarf_state dwarf;
	bool program;        /* has an interpreter, or is no shared object */
	bool exports_malloc; /* of what was asked with `allocator` */
	const char *mallctl; /* the shortest name of a function that ends so, asked with `allocator`; or NULL */
	const char *remarks; /* what cannot be used of the files, and why; parted by "; ". NULL: nothing */
	struct jp_reply_place *places; /* one for each offset, in their order */
	struct jp_reply_frame *frames;
	struct jp_reply_function *functions;
	struct jp_reply_want *wants;
	struct jp_reply_loss *losses;
	uint32_t place_count, frame_count, function_count, want_count, loss_count;
	struct jp_arena arena; /* has all of it, once read */
	/* One that is kept has these, no wants, no losses, and refuses nothing. */
	uint64_t *offsets;    /* of its places: ascending and different. NULL: it is not kept */
	const char *identity; /* which files were asked, and what answered */
	bool nameless;        /* places without a name of the file's own were asked for: the remarks have what was said
	                         of packs */
};

/* Such a reply has no places. */
bool jp_is_refusal(const struct jp_namereply *reply);

/* Adds the reply's bytes to `out`; out->failed where memory is short or it is larger than 2 GiB. */
void jp_namereply_write(const struct jp_namereply *reply, struct jp_strbuf *out);

/* Reads such bytes from anybody, to the last one: all numbers and positions are checked, and every frame belongs to
 * exactly one place, so that what is read is not larger than a few times the bytes. JPROF_E_FORMAT, JPROF_E_NOMEM.
 * The texts are any bytes: they go through jp_strbuf_visible before people see them. Released either way. */
int jp_namereply_read(const void *data, size_t len, struct jp_namereply *reply) jp_must_check;

void jp_namereply_release(struct jp_namereply *reply);

/* Whether bytes that begin so may be such bytes; the first 8 are enough to know. */
bool jp_is_namereply(const void *data, size_t len);
