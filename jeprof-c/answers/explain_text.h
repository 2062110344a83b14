/* An explanation for people: 80 columns. */
#ifndef JEPROF_EXPLAIN_TEXT_H
#define JEPROF_EXPLAIN_TEXT_H

#include <stdio.h>

#include "answers/explain_words.h"

void explain_put_text(FILE *out, const struct explained *what);

/* Of it the lines over the sentence, and the sentence, in lines of 80 columns. */
void explain_put_head(FILE *out, const struct explained *what);
void explain_put_sentence(FILE *out, const struct explained *what);

#endif
