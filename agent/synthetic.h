/* Numbers as addresses: what the agent adds to a sampled stack. They lie in a mapping that nobody can touch, and that
 * has a name in the dump's maps. docs/internals/ruby-table.md is the contract. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
	SYNTHETIC_NODES = 0,
	SYNTHETIC_TAGS = 1 << 18,
	SYNTHETIC_EPOCHS = SYNTHETIC_TAGS + (1 << 10),
	SYNTHETIC_END = SYNTHETIC_EPOCHS + (1 << 21)
};

/* In the constructor. Children inherit the mapping. Returns 0 or an errno. */
int synthetic_reserve(void);

void *synthetic_address(uint32_t number);

/* Is the address one of these? */
bool synthetic_number(uint64_t address, uint32_t *number);

uint64_t synthetic_start(void);
