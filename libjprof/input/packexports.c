#include "input/packexports.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

static int by_export_name(const void *a, const void *b)
{
	const struct jp_codesymbol *const *x = a, *const *y = b;
	return strcmp((*x)->name, (*y)->name);
}

int jp_packexports_make(struct jp_packexports *exports, const struct jp_codesymbol *symbols, size_t count)
{
	*exports = (struct jp_packexports){ symbols, calloc(count + 1, sizeof *exports->by_name), count };
	for (size_t i = 0; exports->by_name && i < count; i++)
		exports->by_name[i] = &symbols[i];
	if (exports->by_name && count)
		qsort(exports->by_name, count, sizeof *exports->by_name, by_export_name);
	return exports->by_name ? 0 : -1;
}

void jp_packexports_release(struct jp_packexports *exports)
{
	free(exports->by_name);
	*exports = (struct jp_packexports){ 0 };
}

static bool is_exported_elsewhere(const struct jp_packexports *exports, uint64_t start, const char *name)
{
	const struct jp_codesymbol key = { .name = name }, *k = &key;
	const struct jp_codesymbol **at =
	    bsearch(&k, exports->by_name, exports->count, sizeof *exports->by_name, by_export_name);
	return at && (*at)->value != start;
}

enum jp_export_verdict jp_packexports_judge(const struct jp_packexports *exports, uint64_t start, const char *name)
{
	const struct jp_codesymbol *symbols = exports->symbols;
	bool any = false;
	for (size_t i = jp_count_below(symbols, exports->count, sizeof *symbols, start);
	     i < exports->count && symbols[i].value == start; i++) {
		if (!strcmp(symbols[i].name, name))
			return JP_EXPORT_SAME;
		any = true;
	}
	return any || is_exported_elsewhere(exports, start, name) ? JP_EXPORT_OTHER : JP_EXPORT_NONE;
}
