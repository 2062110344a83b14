/* Memory beside malloc's and Ruby's heap, in which there are pointers: the data of files, stacks, and what was mapped
 * past malloc. */
#pragma once

#include "outside/jeextents.h"
#include "outside/rubypages.h"

enum jp_rootwords_kind { JP_ROOTWORDS_NONE, JP_ROOTWORDS_FILE, JP_ROOTWORDS_STACK, JP_ROOTWORDS_OTHER };

struct jp_rootwords {
	struct jp_memsource *source;
	const struct jp_jeextents *extents;
	const struct jp_rubypages *pages;
	unsigned char *room; /* jp_ruby_most_page bytes */
	/* Gets the words from an address on, piece by piece, of a file with its name, else "". */
	void (*take)(void *context, const char *file, uint64_t at, const uint64_t *words, size_t count);
	void *context;
};

/* Hands over all of one kind; of how many mappings. */
size_t jp_rootwords_walk(const struct jp_rootwords *roots, enum jp_rootwords_kind kind);
