/* jemalloc may lose the end of a dump without a word, for instance where the disk is full. */
#ifndef AGENT_WHOLE_H
#define AGENT_WHOLE_H

#include <stdbool.h>

/* Does the file end with this process's maps, down to the last mapping? */
bool whole_dump(int fd);

#endif
