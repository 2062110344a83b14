/* Words shared by who writes symbols.json of a bundle (symbol_files.c) and who reads it (bundled_names.c): see
 * docs/internals/bundle.md. */
#pragma once

#include "model/profile.h"

enum { jp_symbols_version = 1 };

/* The letter of a location: its source, and whether it is a wrapper or was in no file. */
char jp_symbols_letter(const struct jprof_profile *profile, uint32_t location);

/* Undoes that; *looked_up is false where the address lay in no file. False: no such letter. */
bool jp_symbols_source(char letter, enum jprof_source *source, bool *wrapper, bool *looked_up);

/* The word for a proof, and back; what is not known is unverified. */
const char *jp_symbols_proof_word(enum jprof_proof proof);
enum jprof_proof jp_symbols_proof(const char *word);
