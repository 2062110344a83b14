/* What an object file says of its debug information: that it has it, or where it was moved to. */
#pragma once

#include <limits.h>

#include "input/objfile.h"

struct jp_file_wants {
	bool dwarf; /* it has debug information of its own; whether that can be used is seen when it is read */
	char link[NAME_MAX + 1];    /* .gnu_debuglink: the name of its debug file; "": none */
	uint32_t crc;               /* and the CRC-32 of that */
	bool shares;                /* .gnu_debugaltlink: dwz moved parts out */
	char shared[PATH_MAX];      /* to that file, as written; "": none that can be */
	char shared_id[2 * 64 + 1]; /* and the build-id of that, in hex */
};

/* Reads the file's headers and those two sections; opens nothing. A name too long for any file is none. 0, or -1 when
 * memory is short. */
int jp_file_wants(const struct jp_objfile *file, struct jp_file_wants *wants);
