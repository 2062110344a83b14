/* Texts, each kept once, in a fixed piece of memory. Under the lock of stacktree.h. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A text as it lies somewhere. */
struct text_span {
	const char *bytes;
	size_t len;
};

/* `memory` is all zero, and the module's from now on. */
void texts_init(void *memory, size_t size);

/* The number of a text, which the caller holds from now on; 0 where there is no room, or no text. What is longer than
 * 1000 bytes loses its beginning. With `last`, an eighth of the room is for the taking that is kept back otherwise. */
uint32_t texts_hold(struct text_span span, bool last);

/* What nobody holds is gone. 0 is nothing. */
void texts_release(uint32_t text);

struct text_span texts_get(uint32_t text);

/* Of its bytes; the same in one process. */
uint32_t texts_hash(struct text_span span);

/* Is it this text? 0 is the empty one. */
bool texts_equal(uint32_t text, struct text_span span);
