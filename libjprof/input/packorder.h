/* A file in which nearly all functions come as in a pack, each as long as there: the same compiler made it of nearly
 * the same source. There a function is compared with the one in its place alone, and only functions that are asked for
 * are read. */
#pragma once

#include "input/namepack.h"
#include "input/packexports.h"

struct jp_packorder {
	const struct jp_namepack *pack;
	struct jp_fingerprints *prints; /* of the file; made as they are needed */
	uint32_t *place; /* for each function of the file that of the pack in its place; UINT32_MAX: none */
	bool *unique;    /* functions of the pack whose fingerprint no other one of it has */
};

/* Whether the file is one: by sizes, by a sample of the contents, and by what it exports. 1, 0, or -1 when memory is
 * short. Pack and prints outlive the result. Released either way. */
int jp_packorder_find(struct jp_packorder *order, const struct jp_namepack *pack, struct jp_fingerprints *prints,
                      const struct jp_packexports *exports) jp_must_check;
void jp_packorder_release(struct jp_packorder *order);

/* Whether a function's place says which one of the pack it is. OTHER: functions came or went near it, so that nothing
 * is known before all of them are matched (input/packmatch.h). */
enum jp_place_verdict { JP_PLACE_SAME, JP_PLACE_UNSURE, JP_PLACE_OTHER };

/* 0, or -1 when memory is short. By the rules of jp_packmatch_find. */
int jp_packorder_judge(struct jp_packorder *order, size_t function, enum jp_place_verdict *verdict) jp_must_check;
