/* The file that a report replaces, or the device, pipe or socket that it goes to. */
#pragma once

#include <stddef.h>

/* Writes a report to `path`; NULL, or why that cannot be, in words (static, or strerror's).
 *
 * Where a regular file or nothing is there, the report is written beside it and renamed: the old file stays until the
 * new one is whole on the disk, and stays as it was where that fails or a signal ends the program; nothing else is
 * left. The new file has the old one's mode, and its owner and group where the caller may give them. Where nothing can
 * be made or renamed there (a directory that the caller cannot write, a file that is mounted by itself) the old file is
 * written in place: that is not atomic, and a crash in the middle leaves it cut. A link at the end of the path is
 * followed if root or the caller owns it, and refused else. Anything else, and /dev/stdout, /dev/fd/N and their like,
 * is written to as it is, and never replaced. A file that was read for a report (cli/filesread.h) is refused. */
const char *outfile_write(const char *path, const void *data, size_t len);
