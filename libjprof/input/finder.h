/* Who finds names: the caller's own finder (jprof_name_finder), or findnames.h in this process. */
#pragma once

#include "input/namereply.h"
#include "input/namerequest.h"

/* The reply to a request, as read: there are as many places as offsets, or none where it refuses. JPROF_E_NOMEM;
 * JPROF_E_FORMAT: what was answered is none; another code: nothing was. For the latter two *err has a text about the
 * files. *reply is to be released either way. */
int jp_finder_ask(const struct jprof_name_finder *finder, const struct jp_name_request *request,
                  struct jp_namereply *reply, struct jprof_error *err) jp_must_check;

/* The bytes of an answer, unread: memory to be freed. Errors as above. */
int jp_finder_find(const struct jprof_name_finder *finder, const struct jp_name_request *request, void **answer,
                   size_t *len, struct jprof_error *err) jp_must_check;
