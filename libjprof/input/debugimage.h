/* Of a file with compressed debug information, an ELF file in memory that has what of it is read, unpacked: libdw by
 * itself unpacks each section when it opens the file, and those that nobody asks for, too. */
#ifndef JP_INPUT_DEBUGIMAGE_H
#define JP_INPUT_DEBUGIMAGE_H

#include "input/objfile.h"

/* Makes it, to be freed. What cannot be unpacked is in it as it stands in the file, and of sections with one name the
 * first. *image is NULL where libdw may as well have the file: nothing is compressed, or not as ELF of this machine's
 * kind has it. 0, or -1 when memory is short. */
int jp_debugimage_new(const struct jp_objfile *file, void **image, size_t *size) jp_must_check;

#endif
