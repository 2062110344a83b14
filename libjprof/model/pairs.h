/* Two moments of a service, process by process: which one is compared with which, and what is compared that has nothing
 * to do with each other. */
#pragma once

#include "base/strbuf.h"
#include "model/profile.h"

#define jp_alone SIZE_MAX

/* With which process of the other moment one is compared. */
struct jp_pair {
	size_t with; /* jp_alone: with none */
	bool same;   /* it is that very process; else the one that took its place */
};

struct jp_compared {
	struct jp_process *now, *base; /* owned; the texts are not. A count of 0: not known */
	size_t count, base_count;
	struct jp_pair *pairs, *base_pairs; /* owned; of each of now, and of each of the base */
};

/* Pairs the processes that *compared has: each with itself first (pid and start in one boot; where a start is not
 * known, the pid has to do), else with the one that had its program, role and number among the workers, where there is
 * one such left on each side. 0, or -1 when memory is short; to be released in any case. */
int jp_compared_pair(struct jp_compared *compared) jp_must_check;
void jp_compared_release(struct jp_compared *compared);

/* The same for the processes of a difference. */
int jp_compared_of(const struct jprof_profile *difference, struct jp_compared *compared) jp_must_check;

/* Whether each process of either side is on the other one, too; true where they are not known. */
bool jp_compared_all_same(const struct jp_compared *compared);

/* Whether any is. */
bool jp_compared_any_same(const struct jp_compared *compared);

/* Whether both sides are of one program, as far as is known. */
bool jp_compared_one_program(const struct jp_compared *compared);

/* Adds "worker 1 (22)", "22 (master)": what a process is called. */
void jp_put_process_label(struct jp_strbuf *out, const struct jp_process *process);

/* Adds its place in a service, which the process that replaces it has, too: "worker 1", "master"; nothing where it has
 * none. */
void jp_put_process_place(struct jp_strbuf *out, const struct jp_process *process);

/* Notes what is compared that has nothing to do with each other, a line for each kind. 0, or -1 when memory is short.
 */
int jp_compared_note(struct jprof_profile *profile, const struct jp_compared *compared) jp_must_check;
