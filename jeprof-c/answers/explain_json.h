/* An explanation as JSON: docs/internals/explain.schema.json. */
#ifndef JEPROF_EXPLAIN_JSON_H
#define JEPROF_EXPLAIN_JSON_H

#include <stdio.h>

#include "answers/explain_words.h"

void explain_put_json(FILE *out, const struct explained *what);

#endif
