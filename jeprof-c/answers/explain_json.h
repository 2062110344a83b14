/* An explanation as JSON: docs/internals/explain.schema.json. */
#pragma once

#include <stdio.h>

#include "answers/explain_words.h"

void explain_put_json(FILE *out, const struct explained *what);
