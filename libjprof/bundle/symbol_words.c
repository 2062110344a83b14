#include "bundle/symbol_words.h"

#include <string.h>

static const char letters[JPROF_SOURCES] = {
	[JPROF_SOURCE_NONE] = 'n', [JPROF_SOURCE_FDE] = 'f',    [JPROF_SOURCE_REGISTERED] = 'r',
	[JPROF_SOURCE_PACK] = 'p', [JPROF_SOURCE_DYNSYM] = 'e', [JPROF_SOURCE_SYMTAB] = 's',
	[JPROF_SOURCE_JIT] = 'j',  [JPROF_SOURCE_DWARF] = 'd',  [JPROF_SOURCE_INPUT] = 'i',
};
static const char outside = '-', wrapper_letter = 'w';

static const char *const words[] = {
	[JPROF_PROOF_NO_FILE] = "no file",       [JPROF_PROOF_CONTRADICTED] = "another",
	[JPROF_PROOF_UNVERIFIED] = "unverified", [JPROF_PROOF_INODE] = "inode",
	[JPROF_PROOF_BUILD_ID] = "build-id",     [JPROF_PROOF_INPUT] = "input",
};

char jp_symbols_letter(const struct jprof_profile *profile, uint32_t location)
{
	const struct jp_location *l = &profile->locations[location];
	if (l->source == JPROF_SOURCE_NONE && !jp_location_vaddr(profile, location))
		return outside;
	return l->wrapper ? wrapper_letter : letters[l->source];
}

bool jp_symbols_source(char letter, enum jprof_source *source, bool *wrapper, bool *looked_up)
{
	const char *at = letter ? memchr(letters, letter, sizeof letters) : NULL;
	*wrapper = letter == wrapper_letter;
	*looked_up = letter != outside;
	*source = at ? (enum jprof_source)(at - letters) : *wrapper ? JPROF_SOURCE_FDE : JPROF_SOURCE_NONE;
	return at || *wrapper || !*looked_up;
}

const char *jp_symbols_proof_word(enum jprof_proof proof)
{
	return words[proof];
}

enum jprof_proof jp_symbols_proof(const char *word)
{
	for (size_t i = 0; word && i < jp_count(words); i++)
		if (!strcmp(words[i], word))
			return (enum jprof_proof)i;
	return JPROF_PROOF_UNVERIFIED;
}
