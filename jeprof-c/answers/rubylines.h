/* How to have the lines of Ruby that a profile lacks. */
#pragma once

#include <stdbool.h>

#include "cli/typed.h"
#include "jprof.h"

/* How a program is started whose process has such a title, or whose server has that name: "bundle exec puma"; of
 * another "COMMAND". */
const char *start_of_program(const char *title);

/* The command that starts the program so that its samples have lines of Ruby. Nothing where the profile has some, is of
 * no Ruby, or lacks them for a reason that no command removes: a note of the profile says that. `title` as above. */
void ruby_lines_command(struct typed *command, const struct jprof_profile *profile, bool ruby, const char *title);
