/* A pack out of a library that has its symbols. */
#pragma once

#include "input/namepack.h"
#include "input/namerequest.h"
#include "input/packfiles.h"

/* Makes a pack of the functions in `object`, by the symbols of .symtab in it, or in `debug` (may be NULL). The pack's
 * label is the caller's to fill in, but for machine and soname. JPROF_E_FORMAT: there is no .symtab, or no function of
 * a machine that is known. `finder` (NULL: this process) reads the files. Lives as long as the caller keeps it:
 * jp_namepack_release. */
int jp_names_learn(const struct jp_objfile *object, const struct jp_objfile *debug,
                   const struct jprof_name_finder *finder, struct jp_namepack *pack,
                   struct jprof_error *err) jp_must_check;

/* How many functions of `object`, which has no symbols, packs of names know, and how many there are; both 0 where none
 * of the packs is of it. A code, as above. */
int jp_names_packed(const struct jp_objfile *object, const struct jp_packfiles *packs,
                    const struct jprof_name_finder *finder, size_t *named, size_t *functions,
                    struct jprof_error *err) jp_must_check;

/* The finder's side: adds the pack's bytes to `out`, of a file with packs one of the names that these have for it.
 * JPROF_E_NOMEM; JPROF_E_IO: a file cannot be read. */
int jp_learn_answer(const struct jp_name_request *request, struct jp_strbuf *out) jp_must_check;
