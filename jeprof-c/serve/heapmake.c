#include "serve/heapmake.h"

#include "cli/budget.h"
#include "cli/fdwrite.h"
#include "cli/sandbox.h"
#include "cli/say.h"
#include "report/load.h"
#include "snap/memsnap.h"

static int write_profile(void *context, const void *data, size_t len)
{
	const int *fd = context;
	return fd_write(*fd, data, len, true);
}

static bool render_heap(const struct loaded *loaded, const struct serve_options *o, enum jprof_counter counter, int fd)
{
	struct options report = o->report;
	struct jprof_error err;
	report.counter = counter;
	struct jprof_view *view = load_view(loaded, &report);
	if (!view)
		return false;
	const struct jprof_report_opts opts = options_report(&report);
	int rc = jprof_render(view, report.output, &opts, write_profile, &fd, &err);
	if (rc)
		say_error(&err);
	jprof_view_free(view);
	return !rc;
}

static bool render_both(const struct memsnap *snap, const struct serve_options *o, int heap, int allocs)
{
	static char name[] = "snapshot";
	char *dumps[] = { name };
	const struct live_input live = { .name = name, .data = snap->bundle, .len = snap->len };
	struct inputs inputs = { .dumps = dumps, .dump_count = 1, .live = &live, .live_count = 1 };
	struct loaded loaded;
	if (!load_profile(&loaded, &inputs, &o->report))
		return false;
	bool good =
	    render_heap(&loaded, o, JPROF_INUSE_SPACE, heap) && render_heap(&loaded, o, JPROF_ALLOC_SPACE, allocs);
	loaded_free(&loaded);
	return good;
}

bool heap_make(const struct serve_options *o, bool gc, int heap, int allocs)
{
	struct snap_options which = o->which;
	struct memsnap snap = { 0 };
	which.gc = gc;
	if (!budget_watch(o->report.max_memory))
		return false;
	bool good = memsnap_take(&snap, &which);
	if (good && !snap.dumped) {
		if (*snap.why)
			say("%s", snap.why);
		good = false;
	}
	good = good && render_both(&snap, o, heap, allocs);
	memsnap_free(&snap);
	sandbox_end();
	return good;
}
