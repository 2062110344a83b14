/* An explanation for people: 80 columns. */
#ifndef JEPROF_EXPLAIN_TEXT_H
#define JEPROF_EXPLAIN_TEXT_H

#include <stdio.h>

#include "answers/explain_words.h"

void explain_put_text(FILE *out, const struct explained *what);

#endif
