/* What many classes have of one kind, and none of them much of: 200 classes with a Hash in @cache. */
#pragma once

#include "rubyheap/weights.h"

struct jp_crowd_member {
	uint32_t kind; /* all of a crowd have the same: the word by which their class refers to them; where a dump has
	                * no such words, the count of all words plus the one that names what they are, as Hash */
	uint32_t node;
	uint32_t owner; /* the class */
	uint64_t bytes; /* that it keeps */
};

/* Members that follow each other. */
struct jp_crowd {
	struct jp_crowd_member *members; /* the largest first */
	size_t count;
	uint64_t bytes;
	bool sampled; /* it is of samples: other classes may have more that had none */
};

struct jp_crowds {
	struct jp_crowd_member *members;
	size_t member_count, member_cap;
	struct jp_crowd *items;
	size_t count, cap;
};

/* Finds those that keep as much as a row has. `row_of` has for each node the row that dominates it or JP_NONE,
 * `keepers` the node of each row: a keeper itself may be of a crowd, and nothing that is kept by one, or keeps one; nor
 * is what a larger crowd keeps, or keeps that. 0, or -1 when memory is short; to be released in either case. */
int jp_crowds_find(struct jp_crowds *crowds, const struct jp_weights *weights, const uint32_t *row_of,
                   const uint32_t *keepers, size_t rows) jp_must_check;

/* "@cache of 200 classes", "CACHE of 200 classes", "a Hash in each of 200 classes"; and with what is in the largest of
 * them. Of the arena; NULL when memory is short. `bytes` and `of_class` are as for jp_keeper_path. */
const char *jp_crowd_what(const struct jprof_rubyheap *h, const struct jp_crowd *crowd, struct jp_arena *texts);
const char *jp_crowd_path(const struct jprof_rubyheap *h, const struct jp_crowd *crowd, const uint64_t *bytes,
                          uint64_t *of_class, struct jp_arena *texts);

void jp_crowds_release(struct jp_crowds *crowds);
