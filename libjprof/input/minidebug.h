/* MiniDebugInfo: symbols of a stripped file, in a small ELF file compressed with xz, in its section
 * .gnu_debugdata. See "MiniDebugInfo" in the GDB manual. */
#pragma once

#include "input/elffile.h"

struct jp_minidebug;

/* Unpacks the file's .gnu_debugdata, if it has one, into *mini. What is damaged, or larger than 128 MiB
 * when unpacked, is remarked on the file and left out: *mini stays as it was. 0, or -1 when memory is short. */
int jp_minidebug_load(const struct jp_elffile *file, struct jp_minidebug **mini);

/* The ELF file that was in it; lives as long as `mini`. */
Elf *jp_minidebug_elf(const struct jp_minidebug *mini);

void jp_minidebug_free(struct jp_minidebug *mini);
