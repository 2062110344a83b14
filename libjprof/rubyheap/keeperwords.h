/* An object of a Ruby's heap, and the way to it, in words. Texts live in the arena or with the heap; NULL: memory is
 * short. */
#pragma once

#include "base/arena.h"
#include "rubyheap/rubyheap.h"

/* "Shop::Cache", "Hash", "local variables of a block": without an article. */
const char *jp_heap_node_word(const struct jp_heap *heap, uint32_t node);

/* "a Hash of 54,107", "class Shop", "a Session". */
const char *jp_keeper_what(const struct jprof_rubyheap *h, uint32_t node, struct jp_arena *texts);

/* What the way to it passes last that says more than "Hash": "Shop::Cache", "a Session", "a global variable".
 * Where another way leads to it that does not pass there: "Shop::Cache and others". */
const char *jp_keeper_holder(const struct jprof_rubyheap *h, uint32_t node, struct jp_arena *texts);

/* "Hash > String (54,107 of them)": it, and what most of that is that it alone keeps, as below. */
const char *jp_keeper_content(const struct jprof_rubyheap *h, uint32_t node, const uint64_t *bytes, uint64_t *of_class,
                              struct jp_arena *texts);

/* From a root to the node, and what most of that is, by `bytes` of each node, that it alone keeps: "Shop > Cache > Hash
 * > String (54,107 of them)". `of_class` has a place for each node, all 0, and is left so. */
const char *jp_keeper_path(const struct jprof_rubyheap *h, uint32_t node, const uint64_t *bytes, uint64_t *of_class,
                           struct jp_arena *texts);
