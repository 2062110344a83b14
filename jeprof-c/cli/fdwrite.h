/* Writing to a descriptor, all of it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Returns 0 or an errno. A limit on the size of files (ulimit -f) is EFBIG, not the end of the program. With `patient`
 * a signal's handler does not end the writing; else that is EINTR. */
int fd_write(int fd, const void *data, size_t len, bool patient);
