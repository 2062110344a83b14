/* An explanation for people: what there is to say of it. */
#pragma once

#include "answers/explain_words.h"
#include "cli/answer.h"

/* Adds it to an answer. */
void explain_answer(struct answer *answer, const struct explained *what);
