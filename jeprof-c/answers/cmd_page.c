/* jprof --html [OPTIONS] [PROGRAM] DUMP...: the page of a report. */
#include <stdlib.h>

#include "answers/page.h"
#include "cli/filename.h"
#include "commands.h"
#include "report/order.h"
#include "report/overwrite.h"

/* Where all memory is, of what is not subtracted from anything; NULL: nothing is known beside the profile. */
static struct jprof_explanation *page_memory(const struct loaded *l)
{
	struct jprof_outside outside;
	jprof_profile_outside(l->profile, false, &outside);
	return l->difference || !outside.processes ? NULL : page_explanation(l, NULL);
}

static bool put_report_page(const struct loaded *l, const struct options *o, const struct inputs *inputs,
                            struct sink *sink)
{
	struct jprof_explanation *explanation = page_memory(l);
	const struct jprof_profile_info *info = jprof_profile_info(l->profile);
	const struct explained what = { .explanation = explanation,
		                        .path = inputs->dumps[inputs->dump_count - 1],
		                        .members = info->members };
	const struct page page = {
		.options = o, .inputs = inputs, .loaded = l, .explained = explanation ? &what : NULL
	};
	bool good = page_put(&page, sink);
	jprof_explain_free(explanation);
	return good;
}

int cmd_page(const struct options *given)
{
	struct options own = *given;
	const struct options *o = &own;
	struct inputs inputs;
	struct loaded loaded;
	struct sink sink = { .path = o->file };
	if (!page_possible(o, o->granularity))
		return 1;
	bool good = inputs_find(&inputs, o) && overwrites_no_input(o, &inputs) && filename_fits(o->file, "html") &&
	            order_base(inputs.dumps, inputs.dump_count, &own) && load_profile(&loaded, &inputs, o);
	if (good) {
		good = put_report_page(&loaded, o, &inputs, &sink);
		loaded_free(&loaded);
	}
	free(inputs.program);
	return page_end(o, &sink, good);
}
