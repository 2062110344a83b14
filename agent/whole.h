/* jemalloc may lose the end of a dump without a word, for instance where the disk is full. */
#pragma once

#include <stdbool.h>

/* Does the file end with this process's maps, down to the last mapping? */
bool whole_dump(int fd);
