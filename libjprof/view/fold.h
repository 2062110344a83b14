/* Folding: frames that tell how memory was got are taken off the inner end of a stack, so that the innermost frame left
 * tells what for. */
#pragma once

#include "base/pattern.h"
#include "model/code.h"
#include "ops/wrappers.h"

/* A stack as it is folded and filtered: location ids, innermost first, and how many frames of the innermost are taken
 * off. */
struct jp_run {
	const uint32_t *places;
	uint32_t depth, skip;
};

/* How many places of the stack, from its inner end, are native: Ruby's are its outer end. */
uint32_t jp_run_native(const struct jp_code *code, const struct jp_run *run);

/* Leaves the native places of a stack, or those of Ruby: where it has none, `outside` alone, which must outlive it. */
void jp_run_choose(struct jp_run *run, uint32_t native, bool ruby, const uint32_t *outside);

struct jp_fold {
	const struct jp_code *code;
	enum jprof_fold level;
	struct jp_wrappers wrappers;
	struct jp_pattern *also; /* what the user calls a wrapper; NULL: nothing */
	unsigned short *known;   /* by function: what is known of its name */
	uint8_t *machinery;      /* by place: 1 it is the interpreter's machinery, 2 it is not, 0 not known yet */
	uint32_t slots;          /* the object of places of objects in Ruby's slots, or JP_NONE */
	uint32_t *scratch;       /* what is left where frames between others were taken out */
	size_t scratch_cap;
};

/* Takes `fold` and `fold_also` of the options; to be released in either case. The code must outlive it. */
int jp_fold_init(struct jp_fold *fold, const struct jp_code *code, const struct jprof_view_opts *opts,
                 struct jprof_error *err) jp_must_check;

/* Folds a whole stack; at least one place is left. What is left lies in the stack itself, or else in the fold's scratch
 * until the next is folded. 0, or -1 when memory is short. */
int jp_fold_stack(struct jp_fold *fold, struct jp_run *run) jp_must_check;

/* Whether the highest level takes a place out wherever it stands. */
bool jp_fold_takes_out(const struct jp_fold *fold, uint32_t place);

void jp_fold_release(struct jp_fold *fold);
