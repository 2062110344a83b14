/* Who refers to what in the code of an image, without following it: every place that may hold an address counts, so
 * that what is found is too much rather than too little. */
#pragma once

#include "machine/image.h"

/* How a function is reached. */
struct jp_function_uses {
	uint32_t calls; /* places in other functions that call it or jump to it */
	bool taken;     /* its address is used otherwise */
};

struct jp_references {
	struct jp_function_uses *uses; /* of each function of the image; all 0 where it was not sighted */
	uint32_t *sightings;           /* functions that refer to a watched address; ascending */
	size_t sighting_count, sighting_cap;
	uint64_t *entries; /* where other code jumps into the middle of sighted functions; ascending, may repeat */
	size_t entry_count, entry_cap;
};

/* Reads all code, and again where functions refer to one of `watches`, which are sorted addresses, for who
 * refers to these functions. 0, or -1 when memory is short; released either way. */
int jp_references_find(const struct jp_image *image, const uint64_t *watches, size_t watch_count,
                       struct jp_references *references);

void jp_references_release(struct jp_references *references);

/* The function of the file itself that a call to `address` reaches, also through a stub of the linker; `address` where
 * that is none. A symbol of another file: *symbol, else JP_NONE. */
uint64_t jp_stub_target(const struct jp_image *image, uint64_t address, uint32_t *symbol);

/* The word by which the stub of the linker's there goes on; 0: it is none. */
uint64_t jp_stub_slot(const struct jp_image *image, uint64_t address);
