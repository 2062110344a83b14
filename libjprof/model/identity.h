/* Which processes a profile is of, as far as a bundle or a side-car tells. */
#pragma once

#include "model/profile.h"

/* Adds a process, whose dump is all that the profile has, or fills up what is not known of the one it has. Texts are
 * copied. 0, or -1 when memory is short. */
int jp_identity_set(struct jprof_profile *profile, const struct jp_process *process) jp_must_check;

/* Adds the processes of another profile, which may be the same one; with a factor below 0 those of now are of the base.
 * 0, or -1 when memory is short. */
int jp_identity_merge(struct jprof_profile *to, const struct jprof_profile *from, double factor) jp_must_check;

/* The processes of now or of the base, in an array that is to be freed; the texts are the profile's. NULL when memory
 * is short. `count` is 0 where those of some input are not known. */
struct jp_process *jp_identities(const struct jprof_profile *profile, bool base, size_t *count) jp_must_check;

/* The title of a process of now, of a master if there is one; "": not known. The text is the profile's. */
const char *jp_identity_title(const struct jprof_profile *profile);

/* Whether a process of the profile runs Ruby: by its object files and stacks. */
bool jp_has_ruby_inside(const struct jprof_profile *profile);
