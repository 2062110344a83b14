/* Of a file with compressed debug information, an ELF file in memory that has what of it is read, unpacked: libdw by
 * itself unpacks each section when it opens the file, and those that nobody asks for, too. */
#pragma once

#include "input/objfile.h"

/* Makes it, to be freed. What cannot be unpacked is in it as it stands in the file, and of sections with one name the
 * first. NULL where libdw has to have the file: nothing is compressed, or not as ELF of this machine's kind has it, or
 * it claims to be larger than memory that can be had, which is no reason for other files to lose their names. */
void *jp_debugimage_new(const struct jp_objfile *file, size_t *size) jp_must_check;
