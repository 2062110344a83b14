/* gperftools' heap and growth profiles, in text: gperf.c has the format. */
#ifndef JP_INPUT_GPERF_H
#define JP_INPUT_GPERF_H

#include "input/textparse.h"

/* Reads from p->reader on to the end. A fault after at least one sound stack becomes a warning. 0 or a negative code.
 */
int jp_parse_gperf(struct jp_parse *p);

#endif
