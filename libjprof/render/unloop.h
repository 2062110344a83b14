/* Recursion taken out of a stack. */
#ifndef JP_RENDER_UNLOOP_H
#define JP_RENDER_UNLOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Takes what repeats itself out of a stack of names, outermost first: of f f f one f stays, of f g f g one f g, for
 * loops of up to 16 names. Returns what is left; loops[i] says whether something was taken out at names[i]. `loops` has
 * room for `depth`. */
size_t jp_unloop(uint32_t *names, size_t depth, bool *loops);

#endif
