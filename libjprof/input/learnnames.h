/* A pack out of a library that has its symbols. */
#ifndef JP_INPUT_LEARNNAMES_H
#define JP_INPUT_LEARNNAMES_H

#include "input/namepack.h"

/* Makes a pack of the functions in `object`, by the symbols of .symtab in it, or in `debug` (may be NULL). The pack's
 * label is the caller's to fill in, but for machine and soname. JPROF_E_FORMAT: there is no .symtab, or no function of
 * a machine that is known. Lives as long as the caller keeps it: jp_namepack_release. */
int jp_names_learn(const struct jp_objfile *object, const struct jp_objfile *debug, struct jp_namepack *pack,
                   struct jprof_error *err) jp_must_check;

#endif
