/* A file that has the functions of a pack in the same order, each as long: the same compiler made it of the same
 * source. There a function is compared with the one in its place alone, and only functions that are asked for are read.
 */
#ifndef JP_INPUT_PACKORDER_H
#define JP_INPUT_PACKORDER_H

#include "input/namepack.h"
#include "input/packexports.h"

struct jp_packorder {
	const struct jp_namepack *pack;
	struct jp_fingerprints *prints; /* of the file; made as they are needed */
	bool *unique;                   /* functions of the pack whose fingerprint no other one of it has */
};

/* Whether the file is one: all sizes are alike, a sample of the contents, and what it exports. 1, 0, or -1 when memory
 * is short. Pack and prints outlive the result, which is released if it is 1. */
int jp_packorder_find(struct jp_packorder *order, const struct jp_namepack *pack, struct jp_fingerprints *prints,
                      const struct jp_packexports *exports) jp_must_check;
void jp_packorder_release(struct jp_packorder *order);

/* Whether a function's place says which one of the pack it is. OTHER: what was looked at is not alike, so that nothing
 * is known before all functions are matched (input/packmatch.h). */
enum jp_place_verdict { JP_PLACE_SAME, JP_PLACE_UNSURE, JP_PLACE_OTHER };

/* 0, or -1 when memory is short. By the rules of jp_packmatch_find. */
int jp_packorder_judge(struct jp_packorder *order, size_t function, enum jp_place_verdict *verdict) jp_must_check;

#endif
