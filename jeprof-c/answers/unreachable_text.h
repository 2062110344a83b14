/* What no pointer was found to, for people. */
#pragma once

#include "answers/explain_words.h"
#include "cli/answer.h"

/* Adds it to an answer that has its head; the explanation has such rows. */
void unreachable_add(struct answer *answer, const struct explained *what);
