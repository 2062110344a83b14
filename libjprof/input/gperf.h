/* gperftools' heap and growth profiles, in text: gperf.c has the format. */
#pragma once

#include "input/textparse.h"

/* Reads from p->reader on to the end. A fault after at least one sound stack becomes a warning. 0 or a negative code.
 */
int jp_parse_gperf(struct jp_parse *p);
