/* Whose memory it is: the beginning of every screen. */
#pragma once

#include "base/strbuf.h"
#include "jprof.h"

/* Adds "shop: Puma, master and 2 workers", "kvserver". `file` stands for a program that is not known; NULL: "a
 * program". */
void whose_add(struct jp_strbuf *text, const struct jprof_service *service, const char *file);
