#include "cli/giveback.h"

#include <malloc.h>

enum { large_block = 1 << 20 };

/* By itself glibc takes the size of what was freed for the size of what will be wanted again: blocks of up to 32 MB
 * then come from a heap that only shrinks at its end. */
void give_back_large(void)
{
	mallopt(M_MMAP_THRESHOLD, large_block);
}
