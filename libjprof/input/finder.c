#include "input/finder.h"

#include <stdlib.h>

#include "base/error.h"
#include "input/findnames.h"

/* Adds up to what was asked. */
static int read_answer(const struct jp_name_request *request, const void *bytes, size_t len, struct jp_namereply *reply,
                       struct jprof_error *err)
{
	int rc = jp_namereply_read(bytes, len, reply);
	if (!rc && reply->place_count != (jp_is_refusal(reply) ? 0 : request->count))
		rc = JPROF_E_FORMAT;
	return rc == JPROF_E_FORMAT ? jp_error(err, rc, NULL, 0, "the answer to the question for them is damaged") : rc;
}

static int ask_here(const struct jp_name_request *request, struct jp_namereply *reply, struct jprof_error *err)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) bytes = { 0 };
	int rc = jp_find_names(request, &bytes);
	if (rc)
		return rc == JPROF_E_IO ? jp_error(err, rc, NULL, 0, "it cannot be read") : rc;
	return read_answer(request, bytes.text, bytes.len, reply, err);
}

int jp_finder_find(const struct jprof_name_finder *finder, const struct jp_name_request *request, void **answer,
                   size_t *len, struct jprof_error *err)
{
	struct jp_question jp_cleanup(jp_question_release) q = { 0 };
	*answer = NULL;
	*len = 0;
	if (jp_question_write(request, &q))
		return JPROF_E_NOMEM;
	const struct jprof_name_question question = { q.bytes.text, q.bytes.len, q.fds, q.fd_count, request->count };
	return finder->find(finder->context, &question, answer, len, err);
}

int jp_finder_ask(const struct jprof_name_finder *finder, const struct jp_name_request *request,
                  struct jp_namereply *reply, struct jprof_error *err)
{
	void *answer;
	size_t len;
	if (!finder)
		return ask_here(request, reply, err);
	int rc = jp_finder_find(finder, request, &answer, &len, err);
	if (!rc)
		rc = read_answer(request, answer, len, reply, err);
	free(answer);
	return rc;
}
