/* By what a function is recognized in another build of the same source: its content, which is its machine code without
 * what the linker decides, and the names by which it refers to others. */
#pragma once

#include "input/codefile.h"
#include "input/machinecode.h"

/* Hashes are FNV-1a of 64 bits, folded: 40 bits of content, 24 of names. */
struct jp_fingerprint {
	bool made;
	uint64_t content; /* of the code, references set to 0; 0: it cannot be read */
	uint32_t named;   /* of what its references mean (jp_codefile_meaning), in their order; 0: nothing */
	uint32_t size;    /* in bytes */
	uint32_t fixed;   /* bytes of it that no reference takes */
	uint32_t callee_first, callee_count; /* functions that its branches lead to, in their order */
};

struct jp_fingerprints {
	const struct jp_codefile *file;
	struct jp_fingerprint *items; /* one for each of the file's functions */
	size_t count;
	uint32_t *callees; /* functions; UINT32_MAX: none that begins there */
	size_t callee_count, callee_cap;
	struct jp_code_refs refs; /* both of the function that is being read: ... */
	unsigned char *code;      /* a copy that may be changed */
	size_t code_cap;
};

/* Room for those of a file, which outlives them; none is made. 0, or -1 when memory is short. Released either way. */
int jp_fingerprints_begin(const struct jp_codefile *file, struct jp_fingerprints *prints) jp_must_check;

/* Makes one, or all; each is made once. 0, or -1 when memory is short. */
int jp_fingerprint_make(struct jp_fingerprints *prints, size_t function) jp_must_check;
int jp_fingerprints_make(struct jp_fingerprints *prints) jp_must_check;
/* Whether one that occurs once says which function it is: enough bytes that no reference takes, or a name. */
bool jp_fingerprint_says_something(const struct jp_fingerprint *print);

void jp_fingerprints_release(struct jp_fingerprints *prints);
