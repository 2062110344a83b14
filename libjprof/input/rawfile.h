/* Symbolized files, which have names before one of the other formats: rawfile.c has the format. */
#pragma once

#include "input/textparse.h"

/* Reads from p->reader on to the end. A fault after at least one sound stack becomes a warning. 0 or a negative code.
 */
int jp_parse_raw(struct jp_parse *p);
