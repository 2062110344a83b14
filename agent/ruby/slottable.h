/* The samples of objects that live, as far as it is known, in memory of 6 MB at most. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "ruby/ruby_api.h"

enum { SLOTTABLE_MOST = 1 << 17 };

struct slot_sample {
	VALUE object; /* its address; 0: no sample is here */
	VALUE id;     /* of slotstock.h; 0: it is dead */
	uint32_t node, epoch;
	uint32_t class;           /* its name, a text; 0: none, or not yet known */
	uint32_t stock;           /* the last one in which it lived; 0: it is younger */
	uint16_t tag, slot, size; /* bytes of its slot, and those that it was counted for */
	uint8_t type;
	uint8_t moved; /* of slotdata.h, in its units */
};

/* Returns 0 or an errno. */
int slottable_init(void);

/* False where there is no room, or another thread has the table for long. Takes no lock that it would wait for. */
bool slottable_add(const struct slot_sample *sample);

uint32_t slottable_count(void);

/* All places, for whoever removes: nobody adds until slottable_release(). NULL where the table was not to be had. */
struct slot_sample *slottable_take(uint32_t *places);
void slottable_remove(struct slot_sample *sample);
void slottable_release(void);

/* Copies samples from this place on, and returns how many; the place that follows is in `place`. 0: there are no more.
 */
uint32_t slottable_copy(uint32_t *place, struct slot_sample *samples, uint32_t most);

/* Before a fork; in the parent; and in the child: false where it has no samples, because another thread was at them. */
void slottable_fork(void);
void slottable_forked_parent(void);
bool slottable_forked_child(void);
