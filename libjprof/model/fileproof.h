/* What is known of the files behind names: which build ran, and whether the file that gave the names was proven to be
 * it. It goes with the names into symbolized files (input/rawfile.h) and profile.protos (as comments), in a line for
 * each file:
 *
 *   #file=DOUBT^IRAN^IGAVE^IREFUSED^IMAJOR:MINOR:INODE^IPATH
 *
 * DOUBT is of the names: "none", "unproven", or "changed" where the file was changed after the dump was made. RAN, GAVE
 * and REFUSED are build-ids in hex, or empty: of the file that ran, of one that gave names without proof, and of one
 * that was there and had not run. The device and inode are those of the dump's maps; all 0 where they are not known. */
#pragma once

#include "base/reader.h"
#include "base/strbuf.h"
#include "input/dumpdata.h"
#include "model/code.h"

/* Writes the line of an object up to its path, without device and inode where `maps` go with it. False: nothing is
 * known of it, and nothing was written. */
bool jp_fileproof_put(const struct jp_code *code, uint32_t object, bool maps, struct jp_strbuf *out);

/* The build-id of the file that ran, as far as it is proven or the input tells it; else "". */
const char *jp_fileproof_ran(const struct jp_code *code, uint32_t object);

/* Takes over what a line tells, which begins behind JP_FILEPROOF_BEGIN, of the objects with its path. With `make` one
 * whose names are in doubt is made where there is none. What is faulty is left out. 0, or -1 when memory is short. */
int jp_fileproof_take(struct jprof_profile *profile, struct jp_span line, bool make) jp_must_check;

/* Takes over what is known of an object of the profile `from`. 0, or -1 when memory is short. */
int jp_fileproof_merge(struct jprof_profile *to, uint32_t object, const struct jprof_profile *from,
                       const struct jp_object *like) jp_must_check;

/* Takes over what a bundle tells of an object, `like` of the profile `from` (may be the same): not its build-id.
 * 0, or -1 when memory is short. */
int jp_object_bundled(struct jprof_profile *profile, uint32_t object, const struct jprof_profile *from,
                      const struct jp_object *like) jp_must_check;

/* Gives an object, the one of this path or the one that is mapped at an address, the build-id that is told for it.
 * 0, or -1 when memory is short. */
int jp_build_id_at_path(struct jprof_profile *profile, const char *path, const char *build_id) jp_must_check;
int jp_build_id_at(struct jprof_profile *profile, uint64_t address, const char *build_id) jp_must_check;
