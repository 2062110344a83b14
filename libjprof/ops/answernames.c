/* The other side of a question for names: see struct jprof_name_finder. */
#include "base/error.h"
#include "input/askdecoded.h"
#include "input/findnames.h"
#include "input/learnnames.h"
#include "ops/wrappers.h"

static bool is_handing_on(const void *wrappers, const char *name)
{
	return jp_is_wrapper_name(wrappers, name);
}

int jprof_names_answer(const struct jprof_name_question *question, jprof_write_fn *write, void *context,
                       struct jprof_error *err)
{
	struct jp_arena jp_cleanup(jp_arena_release) arena = { 0 };
	struct jp_wrappers jp_cleanup(jp_wrappers_release) known = { 0 };
	struct jp_strbuf jp_cleanup(jp_strbuf_release) out = { 0 };
	struct jp_name_request request;
	bool wrappers;
	if (jp_null(err, question) || (!write && jp_null(err, NULL)) ||
	    (question->len && jp_null(err, question->data)) || (question->file_count && jp_null(err, question->files)))
		return JPROF_E_ARGUMENT;
	int rc = jp_question_read(question->data, question->len, question->files, question->file_count, &arena,
	                          &request, &wrappers);
	if (rc == JPROF_E_FORMAT)
		return jp_error(err, rc, NULL, 0, "is no question for names");
	if (rc || jp_wrappers_init(&known))
		return jp_error_nomem(err);
	request.is_wrapper = wrappers ? is_handing_on : NULL;
	request.wrappers = &known;
	rc = request.learn    ? jp_learn_answer(&request, &out)
	     : request.decode ? jp_decode_answer(&request, &out)
	                      : jp_find_names(&request, &out);
	if (rc == JPROF_E_UNSUPPORTED)
		return jp_error(err, rc, NULL, 0, "nothing is loaded that decodes its machine code");
	if (rc)
		return rc == JPROF_E_IO ? jp_error(err, rc, NULL, 0, "the object file cannot be read")
		                        : jp_error_nomem(err);
	if (write(context, out.text, out.len))
		return jp_error(err, JPROF_E_WRITE, NULL, 0, "the answer cannot be written");
	return 0;
}
