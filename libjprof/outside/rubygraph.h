/* The graph of Ruby's objects (docs/internals/graph.md), read from memory, for a process that has no agent: types,
 * classes, sizes and references. No text is read but the names of classes and types, and references have no names.
 *
 * What Ruby's structs are known of is followed word by word. Else every word is a reference that is the address of an
 * object, and every one that is that of a block of malloc leads on: it belongs to the first that leads to it, and its
 * bytes count for that one. Roots are the data of files, stacks, and what else is mapped. */
#pragma once

#include "base/strbuf.h"
#include "outside/jeheap.h"
#include "outside/rubynames.h"

struct jp_rubygraph {
	struct jp_memsource *source;
	const struct jp_jeextents *extents;
	const struct jp_jeheap *heap;
	const struct jp_rubypages *pages;
	const struct jp_rubynames *names;
	uint64_t singleton; /* the bit of flags that singleton classes have; 0: it is looked for */
};

/* Writes it. *why: NULL, or why there is none, as a sentence without its end; static. 0, or -1 when memory is short. */
int jp_rubygraph_write(const struct jp_rubygraph *graph, struct jp_strbuf *out, const char **why) jp_must_check;
