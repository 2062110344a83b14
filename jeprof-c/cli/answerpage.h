/* An answer (cli/answer.h) as a page for a browser: one file, without a script, which loads nothing. What comes from a
 * profile goes into it as text. */
#pragma once

#include "cli/answer.h"

/* What is before the answer's first part, and behind its last. */
void answer_page_begin(FILE *out, const char *title);
void answer_page_end(FILE *out);

/* Paragraphs and details; rows of tables are the caller's, for they have columns of their own. */
void answer_put_page(FILE *out, const struct answer *answer);

/* A text between tags. */
void answer_page_text(FILE *out, const char *text);
