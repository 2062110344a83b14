/* Finding names as a pure function: open files and offsets in, names out as flat bytes. It opens nothing, needs no
 * rights but reading what it was given, and keeps nothing: so it may run in a child without any, and what it answers
 * may be kept. What it reads is anybody's; who reads its answer should trust neither (jp_namereply_read). */
#pragma once

#include "input/namereply.h"
#include "input/namerequest.h"

/* Adds the reply's bytes to `out`. The same request has the same bytes as its answer. 0,
 * JPROF_E_NOMEM, or JPROF_E_IO where the object file cannot be read. */
int jp_find_names(const struct jp_name_request *request, struct jp_strbuf *out) jp_must_check;
