/* What an object file says of its debug information: that it has it, or where it was moved to. */
#ifndef JP_INPUT_FILEWANTS_H
#define JP_INPUT_FILEWANTS_H

#include "input/objfile.h"

struct jp_file_wants {
	bool dwarf;         /* it has debug information of its own; whether that can be used is seen when it is read */
	const char *link;   /* .gnu_debuglink: the name of its debug file; NULL: none */
	uint32_t crc;       /* and the CRC-32 of that */
	const char *shared; /* .gnu_debugaltlink: where dwz moved parts to, as written; NULL: none */
	char shared_id[2 * 64 + 1]; /* and the build-id of that, in hex */
};

/* Reads section headers and those two sections; opens nothing. The texts live as long as the file. */
void jp_file_wants(const struct jp_objfile *file, struct jp_file_wants *wants);

#endif
