/* What stands below an explanation for people: what is not known of the memory, and what would tell it. */
#ifndef JEPROF_EXPLAIN_END_H
#define JEPROF_EXPLAIN_END_H

#include "answers/explain_words.h"
#include "cli/answer.h"

void explain_add_end(struct answer *answer, const struct explained *what);

#endif
