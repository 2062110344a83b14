/* Split DWARF: units whose functions stand in a .dwo file of their own, or in a .dwp with all of them.
 *
 * libdw finds that file itself: NAME.dwo in the directory of the file with the skeleton, then in the directory
 * of the compilation; newer versions also FILE.dwp. It opens whatever is there, and knows of no
 * sysroot. So the same places are looked at first, and libdw is only let go where it will find a regular file
 * inside the sysroot. It follows that below a sysroot only .dwo and .dwp files beside the object file are found. */
#ifndef JP_INPUT_SPLITUNIT_H
#define JP_INPUT_SPLITUNIT_H

#include <elfutils/libdw.h>

#include "input/objfile.h"

/* Units that could not be completed, and why the first of them. */
struct jp_split_losses {
	unsigned count;
	char first[512];
};

/* The other part of the skeleton unit `skeleton`, which is in `holder`. False, and one loss more, if there is none. */
bool jp_split_find(const struct jp_objfile *holder, Dwarf_Die *skeleton, Dwarf_Die *split,
                   struct jp_split_losses *losses);

#endif
