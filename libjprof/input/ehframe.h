/* Bounds of functions from .eh_frame, which even stripped files keep. */
#pragma once

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "base/reader.h"

struct jp_ehframe;

/* A function: [start, end), image-relative. */
struct jp_codebounds {
	uint64_t start, end;
};

/* Finds the tables of a file; one without them gives an empty answer to everything.
 * NULL when memory is short. */
struct jp_ehframe *jp_ehframe_new(Elf *elf);

/* Bounds [start, end) of the function description that holds `vaddr`; false if none does. */
bool jp_ehframe_find(const struct jp_ehframe *ehframe, uint64_t vaddr, uint64_t *start, uint64_t *end);

/* All of them in the bytes of an .eh_frame that lies at `vaddr`, by start, to be freed; `word` is the size of an
 * address. -1 when memory is short. */
int jp_ehframe_walk(struct jp_bytes frames, uint64_t vaddr, unsigned word, struct jp_codebounds **bounds,
                    size_t *count) jp_must_check;

void jp_ehframe_free(struct jp_ehframe *ehframe);
