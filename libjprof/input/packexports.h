/* The names that a file itself has for its functions, by which those of a pack are judged: nothing is found by them. */
#pragma once

#include "input/codefile.h"

struct jp_packexports {
	const struct jp_codesymbol *symbols; /* by address */
	const struct jp_codesymbol **by_name;
	size_t count;
};

/* What a file's own names say of a pack's name for a function. */
enum jp_export_verdict { JP_EXPORT_NONE, JP_EXPORT_SAME, JP_EXPORT_OTHER };

/* Of symbols by address, which outlive them; there may be none. 0, or -1 when memory is short. Released either way. */
int jp_packexports_make(struct jp_packexports *exports, const struct jp_codesymbol *symbols,
                        size_t count) jp_must_check;
void jp_packexports_release(struct jp_packexports *exports);

/* Of the function that begins at `start`. OTHER: the file has another name for it, or this name for another one. */
enum jp_export_verdict jp_packexports_judge(const struct jp_packexports *exports, uint64_t start, const char *name);
