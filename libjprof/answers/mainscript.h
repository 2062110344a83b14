/* The script that a Ruby was started with, by the outermost frame of its stacks: two applications under one Ruby have
 * the same program file, and other scripts. */
#pragma once

#include "answers/seriestypes.h"
#include "model/profile.h"

/* Fills in the scripts of a series by its whole difference, where both sides have one, none has the same name on
 * both, and none starts any application, as bundle and rails do. 0, or -1 when memory is short. */
int jp_find_main_scripts(struct jprof_series *series, const struct jprof_profile *whole) jp_must_check;
