/* A pack: the names of a library's functions, by their fingerprints. docs/internals/packs.md has the format. */
#pragma once

#include "base/arena.h"
#include "base/strbuf.h"
#include "input/fingerprint.h"

struct jp_packed_function {
	uint64_t content; /* these three as in struct jp_fingerprint */
	uint32_t named, size;
	const char *name;                    /* "": it has none */
	uint32_t callee_first, callee_count; /* of a function that is like others in the pack; else none */
};

/* What a pack is of. */
struct jp_namepack_label {
	unsigned machine; /* ELF's e_machine */
	const char *soname, *version, *source, *distribution;
};

struct jp_namepack {
	struct jp_namepack_label label;
	struct jp_packed_function *functions; /* in the order of their addresses */
	uint32_t count;
	uint32_t *callees; /* functions of the pack; UINT32_MAX: unknown */
	uint32_t callee_count;
	struct jp_arena arena; /* has all of it, once read */
};

/* The label alone, from the first bytes of a pack; what is in it lives in `arena`. JPROF_E_FORMAT, JPROF_E_NOMEM. */
enum { jp_namepack_label_bytes = 2048, jp_namepack_most_bytes = 16 << 20 };
int jp_namepack_label_read(const void *data, size_t len, struct jp_arena *arena, struct jp_namepack_label *label,
                           struct jprof_error *err) jp_must_check;

/* Reads a pack from anybody: every number is checked before anything is made of it, and its checksum must be right. The
 * error says what is wrong with it. JPROF_E_FORMAT, JPROF_E_NOMEM. Released either way. */
int jp_namepack_read(const void *data, size_t len, struct jp_namepack *pack, struct jprof_error *err) jp_must_check;
void jp_namepack_release(struct jp_namepack *pack);

/* Adds the pack's bytes to `out`; the same pack has the same bytes. JPROF_E_NOMEM. */
int jp_namepack_write(const struct jp_namepack *pack, struct jp_strbuf *out, struct jprof_error *err) jp_must_check;
