/* Split DWARF: units whose functions stand in a .dwo file of their own, or in a .dwp with all of them. Which file that
 * is only the skeleton unit says; it is wanted from whoever asks (jp_reply_want), who opens it or says why not. */
#pragma once

#include "input/namereply.h"
#include "input/namerequest.h"
#include "input/splitranges.h"

struct jp_splits; /* files that were given, what is wanted, what is lost */

/* NULL when memory is short. */
struct jp_splits *jp_splits_new(void);
void jp_splits_free(struct jp_splits *splits);

/* Which wants are answered. Both, and the open files in them, outlive what is found by them. */
void jp_splits_answer(struct jp_splits *splits, const struct jp_split_answer *answers, size_t count);

enum jp_split_state { JP_SPLIT_FOUND, JP_SPLIT_LOST, JP_SPLIT_WANTED };

struct jp_split_unit {
	Dwarf_Die die;
	struct jp_split_ranges ranges;
	uint32_t want; /* of a unit that is wanted: its place among the wants */
};

/* The other part of the skeleton unit `skeleton`, which is in `holder`. Where there is none that is a want more, or a
 * loss. -1 when memory is short. */
int jp_splits_find(struct jp_splits *splits, const struct jp_elffile *holder, Dwarf_Die *skeleton,
                   struct jp_split_unit *found, enum jp_split_state *state);

/* All that are wanted and lost, each once, until the next call. */
const struct jp_reply_want *jp_splits_wants(const struct jp_splits *splits, uint32_t *count);
const struct jp_reply_loss *jp_splits_losses(const struct jp_splits *splits, uint32_t *count);
