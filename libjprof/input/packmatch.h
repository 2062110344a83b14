/* Which function of a pack a file's function is: the right one or none. docs/names.md has the rules. */
#ifndef JP_INPUT_PACKMATCH_H
#define JP_INPUT_PACKMATCH_H

#include "input/namepack.h"

struct jp_packmatch {
	uint32_t *named; /* for each function of the file: its function in the pack; UINT32_MAX: none is known */
	size_t count;    /* of those that have one */
	size_t alike;    /* functions of the file whose content the pack has too */
	size_t exports;  /* exported functions that got one, to judge the others by */
	size_t wrong;    /* and those of them that got another's name */
	bool fits;       /* else `named` has none */
};

/* Finds them. `exports` are the names that the file itself has for its functions: nothing is found by them, but a pack
 * that contradicts them is not believed. There may be none. 0, or -1 when memory is short. `named` is to be freed. */
int jp_packmatch_find(const struct jp_namepack *pack, const struct jp_codefile *file,
                      const struct jp_fingerprints *prints, const struct jp_codesymbol *exports, size_t export_count,
                      struct jp_packmatch *match) jp_must_check;

#endif
