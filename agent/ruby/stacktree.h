/* The tree of Ruby stacks: each node is a frame and the node that called it, kept once. All in one piece of memory of
 * 16 MB at most, of which what was never used takes no room. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ruby/texts.h"

/* What a node is: a frame, by the letter between class and method, or a marker. */
enum { STACKTREE_PLAIN = '-', STACKTREE_INSTANCE = '#', STACKTREE_CLASS = '.', STACKTREE_MARKER = '!' };

/* `method` of a marker. All but the last are nodes of this number, for good. `line` of STACKTREE_CUT is how many frames
 * it stands for, 0: not known. */
enum stacktree_marker {
	STACKTREE_AFTER_GC = 1,
	STACKTREE_JOB,
	STACKTREE_FULL,
	STACKTREE_BUSY,
	STACKTREE_IN_GC,
	STACKTREE_CUT
};

struct stacktree_frame {
	uint32_t path, class, method; /* texts, or 0 */
	uint32_t line;
	uint32_t kind;
};

/* Returns 0 or an errno. */
int stacktree_init(void);

/* How many bytes of all that (nodes, texts, scratch) the kernel has given so far; 0 where it does not say. On one
 * thread at a time. */
size_t stacktree_resident(void);

/* Memory for arrays of what is being taken down, the lock's holder's alone. */
void *stacktree_scratch(size_t *size);

/* All below is under this lock, where nothing is said. Never waits for long: false where another thread has it, or
 * this one below a signal handler. */
bool stacktree_try_lock(void);
void stacktree_unlock(void);

/* Before a fork: waits for who is at it; in the parent, and in the child. */
void stacktree_fork(void);
void stacktree_forked_parent(void);
void stacktree_forked_child(void);

/* A node's number, made where there was none: 0 where there is no room. Takes what the caller holds of the texts over,
 * in any case. With `last`, the eighth of the room that is kept back otherwise may be used. */
uint32_t stacktree_node(uint32_t parent, const struct stacktree_frame *frame, bool last);
/* Is a node, whose number was had in this generation, this one? Only its texts are looked at in place of those of
 * `frame`. */
bool stacktree_is(uint32_t node, uint32_t parent, const struct stacktree_frame *frame, const struct text_span texts[3]);

/* Likewise, by the numbers of its texts: equal texts in use have one number. */
bool stacktree_has(uint32_t node, uint32_t parent, const struct stacktree_frame *frame);

/* What a node is, whose number was had in this generation. */
struct stacktree_frame stacktree_frame_of(uint32_t node);

uint32_t stacktree_mark(uint32_t parent, enum stacktree_marker marker, uint32_t count);

/* Changes when nodes may have gone, or have to be found anew to be taken for used. */
uint32_t stacktree_generation(void);

/* ---- taking stock, with each dump: by one thread at a time, without the lock */

/* A dump begins. */
void stacktree_stock_begin(void);

/* The dump has this node. Returns false for a number that is none. */
bool stacktree_stock_use(uint32_t node);

/* Calls `each` for each node in use, its callers first. */
void stacktree_each_used(void (*each)(uint32_t node, uint32_t parent, const struct stacktree_frame *frame, void *arg),
                         void *arg);

/* The dump was read. If it is whole, what was not used by it, nor by the one before, and has not been since, goes. */
void stacktree_stock_end(bool whole);
