/* jprof --html [OPTIONS] [PROGRAM] DUMP...: the page of a report. */
#include <stdlib.h>

#include "answers/page.h"
#include "cli/filename.h"
#include "commands.h"
#include "report/order.h"
#include "report/overwrite.h"

/* Where all memory is can be said of what is not subtracted from anything, if more is known than the profile. */
static bool knows_memory(const struct loaded *l)
{
	struct jprof_outside outside;
	jprof_profile_outside(l->profile, false, &outside);
	return !l->difference && outside.processes;
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
		const struct page page = { .options = o,
			                   .inputs = &inputs,
			                   .loaded = &loaded,
			                   .memory = knows_memory(&loaded) ? &loaded : NULL };
		good = page_put(&page, &sink);
		loaded_free(&loaded);
	}
	free(inputs.program);
	return page_end(o, &sink, good);
}
