#!/usr/bin/env python3
"""Writes C with the bytes of packs in it, for a program of one file.
usage: embed.py PACK.jnames..."""
import os
import sys

packs = sorted(sys.argv[1:], key=os.path.basename)
print('/* Made by packaging/names/embed.py. */\n#include "input/builtinpacks.h"\n')
for number, path in enumerate(packs):
    print(f'__asm__(".section .rodata\\n.balign 8\\njp_pack_{number}:\\n.incbin \\"{os.path.abspath(path)}\\"\\n'
          f'jp_pack_{number}_end:\\n.byte 0\\n.previous");')
    print(f'extern const unsigned char jp_pack_{number}[], jp_pack_{number}_end[];')
print('\nstatic const struct jp_builtin_pack builtin_packs[] = {')
for number, path in enumerate(packs):
    print(f'\t{{ "{os.path.basename(path)}", jp_pack_{number}, jp_pack_{number}_end }},')
print('''};

const struct jp_builtin_pack *jp_builtin_pack_at(size_t i)
{
	return i < sizeof builtin_packs / sizeof *builtin_packs ? &builtin_packs[i] : NULL;
}''')
