/* The stacks of views as a page has them: at each level of folding and with each part of Ruby, so that a reader can
 * switch without asking again. Stacks are the innermost nodes of one trie of frames, outermost first: what folding
 * takes off an inner end is a node further out, and costs a number. Stacks of several views that are alike are one. */
#pragma once

#include "base/trie.h"
#include "render/pageframes.h"

/* What a stack is at a level of folding, with a part of Ruby. */
struct jp_page_ends {
	uint32_t leaf;        /* node in the trie of frames; 0: a filter dropped the stack */
	uint32_t inner;       /* how many frames are inside of the one at which its memory was allocated: by site */
	uint32_t owner;       /* node in the trie of libraries */
	uint32_t owner_inner; /* likewise: how many rows are inside of the owner's */
};

enum { jp_page_folds = 4, jp_page_variants = 12 };

struct jp_page_stack {
	uint32_t tag;                               /* a string; "" is none */
	struct jp_page_ends ends[jp_page_variants]; /* the folds of each part of Ruby */
};

struct jp_page_stacks {
	struct jp_page_frames frames;
	struct jp_trie nodes;  /* of frames of the page, */
	struct jp_trie paths;  /* and of libraries, as strings */
	struct jp_intern keys; /* struct jp_page_stack of each stack */
	size_t variants;       /* so many there are: the first view has Ruby, or it has not */
};

/* Stacks of zero bytes are none, and ready for use. Adds those of a view: (*of)[i] is what its stack i is here, for
 * free(). Its own folding comes first: levels that take off less are as it. */
int jp_page_stacks_add(struct jp_page_stacks *stacks, struct jp_page_names *names, uint32_t **of,
                       struct jprof_error *err);
void jp_page_stacks_release(struct jp_page_stacks *stacks);

const struct jp_page_stack *jp_page_stack(const struct jp_page_stacks *stacks, uint32_t stack);
