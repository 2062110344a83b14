/* Bounds of functions from .eh_frame, which even stripped files keep. */
#ifndef JP_INPUT_EHFRAME_H
#define JP_INPUT_EHFRAME_H

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

struct jp_ehframe;

/* Finds the tables of a file; one without them gives an empty answer to everything.
 * NULL when memory is short. */
struct jp_ehframe *jp_ehframe_new(Elf *elf);

/* Bounds [start, end) of the function description that holds `vaddr`; false if none does. */
bool jp_ehframe_find(const struct jp_ehframe *ehframe, uint64_t vaddr, uint64_t *start, uint64_t *end);

void jp_ehframe_free(struct jp_ehframe *ehframe);

#endif
