/* Which function of a pack a file's function is: the right one or none. docs/internals/packs.md has the rules. */
#pragma once

#include "input/namepack.h"
#include "input/packexports.h"

enum { JP_LONGEST_RUN = 8 /* functions between two anchors that are paired by position */ };

struct jp_packmatch {
	uint32_t *named; /* for each function of the file: its function in the pack; UINT32_MAX: none is known */
	size_t count;    /* of those that have one */
	size_t alike;    /* functions of the file whose content the pack has too */
	size_t exports;  /* exported functions that got one, to judge the others by */
	size_t wrong;    /* and those of them that got another's name */
	bool fits;       /* else `named` has none */
};

/* Finds them, by all fingerprints of the file. A pack that its exports contradict is not believed. 0, or -1 when memory
 * is short. `named` is to be freed. */
int jp_packmatch_find(const struct jp_namepack *pack, const struct jp_codefile *file,
                      const struct jp_fingerprints *prints, const struct jp_packexports *exports,
                      struct jp_packmatch *match) jp_must_check;
