/* The stacks of a view as a page has them: at each level of folding and with each part of Ruby, so that a reader can
 * switch without asking again. Stacks are the innermost nodes of one trie of frames, outermost first: what folding
 * takes off an inner end is a node further out, and costs a number. */
#ifndef JP_RENDER_PAGESTACKS_H
#define JP_RENDER_PAGESTACKS_H

#include "view/rows.h"
#include "view/view.h"

/* Nodes by id from 1 on; 0 is the root, which is nothing. Parents come before their children. */
struct jp_page_trie {
	struct jp_intern keys; /* {parent, item} of node i + 1 */
};

struct jp_page_node {
	uint32_t parent, item;
};

/* What the stacks are at a level of folding, with a part of Ruby. Arrays by stack of the view. */
struct jp_page_variant {
	enum jprof_ruby ruby;
	enum jprof_fold fold;
	uint32_t *leaf;        /* node in the trie of frames; 0: a filter dropped the stack */
	uint32_t *inner;       /* how many frames are inside of the one at which its memory was allocated: by site */
	uint32_t *owner;       /* node in the trie of libraries, whose rows are ids in `libraries.names` */
	uint32_t *owner_inner; /* likewise: how many rows are inside of the owner's */
};

enum { jp_page_folds = 4, jp_page_variants = 12 };

struct jp_page_stacks {
	const struct jprof_view *view;
	struct jp_page_trie frames, paths;
	struct jp_rows libraries;
	struct jp_page_variant variants[jp_page_variants];
	size_t count;
};

/* The view's own folding comes first: levels that take off less are as it. To be released in either case. */
int jp_page_stacks_init(struct jp_page_stacks *stacks, const struct jprof_view *view, struct jprof_error *err);
void jp_page_stacks_release(struct jp_page_stacks *stacks);

const struct jp_page_node *jp_page_node(const struct jp_page_trie *trie, uint32_t node);

#endif
