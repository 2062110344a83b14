/* The new file of a bundle: what a process holds is nobody else's business. */
#pragma once

#include <stdbool.h>

#include "cli/newfile.h"

/* Whether a bundle could be made there now: makes it and takes it back. False after having said what is wrong, also
 * where there is a file. A bundle's file is made when its bytes are there, for until then it may take long, and where a
 * new file must have a name a killed process leaves it. */
bool bundle_file_try(const char *path, const char *mode);

/* As newfile_make, but with the mode that --mode=`mode` asks for, else only its owner may read it; and where sudo made
 * the call it belongs to the user who called sudo. False after having said what is wrong. */
bool bundle_file_open(struct newfile *file, const char *path, const char *mode);

/* Whether `mode` is one: up to four octal digits that stand for at most 0777; NULL is. False after having said what is
 * wrong. */
bool bundle_mode_good(const char *mode);
