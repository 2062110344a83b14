/* Words of a memory that are asked for in ascending order, mostly: read 64 KB at a time. */
#pragma once

#include "outside/memsource.h"

enum { jp_memwindow_words = 8192 };

struct jp_memwindow {
	struct jp_memsource *source;
	uint64_t at; /* of the first word */
	uint64_t words[jp_memwindow_words];
};

/* Nothing is read yet. */
void jp_memwindow_open(struct jp_memwindow *window, struct jp_memsource *source);

/* The word at an address, which is a multiple of 8; 0 where it is not in memory. */
uint64_t jp_memwindow_word(struct jp_memwindow *window, uint64_t address);
