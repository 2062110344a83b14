#include "serve/heapmake.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "answers/page.h"
#include "answers/seriesload.h"
#include "cli/budget.h"
#include "cli/fdwrite.h"
#include "cli/sandbox.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "cli/sink.h"
#include "report/load.h"
#include "serve/metrics.h"
#include "snap/memsnap.h"

/* ---- snapshots ------------------------------------------------------------------------------------------------- */

/* Names by which the snapshots are operands of a command. */
static char first_name[] = "first", last_name[] = "last";

/* The bytes of a file in memory, which stay as long as this process. False after having said what is wrong. */
static bool map_snapshot(int fd, char *name, struct live_input *to)
{
	struct stat st;
	void *data = MAP_FAILED;
	if (!fstat(fd, &st) && st.st_size > 0)
		data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED) {
		say("a snapshot that was made cannot be read: %s", strerror(errno));
		return false;
	}
	*to = (struct live_input){ .name = name, .data = data, .len = (size_t)st.st_size };
	return true;
}

/* Has the processes dump. False after having said why not. */
static bool take_snapshot(const struct serve_options *o, bool gc, struct memsnap *snap)
{
	struct snap_options which = o->which;
	which.gc = gc;
	bool good = memsnap_take(snap, &which);
	if (good && !snap->dumped && *snap->why)
		say("%s", snap->why);
	return good && snap->dumped;
}

/* ---- what is made of them ---------------------------------------------------------------------------------------- */

static int write_profile(void *context, const void *data, size_t len)
{
	const int *fd = context;
	return fd_write(*fd, data, len, true);
}

static bool make_profile(const struct loaded *loaded, const struct serve_options *o, enum jprof_counter counter, int fd)
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

static bool make_page(const struct loaded *loaded, const struct serve_options *o, const struct inputs *inputs, int fd)
{
	struct options report = o->report;
	report.labels = false;
	report.no_source = true; /* who may see names need not see the sources */
	const struct page page = {
		.options = &report, .inputs = inputs, .loaded = loaded, .memory = loaded, .silent = true
	};
	struct sink sink = { .path = last_name }; /* it keeps the bytes: nothing is written there */
	bool good = page_put(&page, &sink) && fd_write(fd, sink.data, sink.len, true) == 0;
	free(sink.data);
	return good;
}

/* What is made of a profile as it is. */
static bool make_of_profile(const struct serve_options *o, const struct heap_work *w, const struct inputs *inputs)
{
	struct loaded loaded;
	if (w->files[SERVE_INUSE] < 0 && w->files[SERVE_ALLOCS] < 0 && w->files[SERVE_PAGE] < 0)
		return true;
	if (!load_profile(&loaded, inputs, &o->report))
		return false;
	bool good =
	    (w->files[SERVE_INUSE] < 0 || make_profile(&loaded, o, JPROF_INUSE_SPACE, w->files[SERVE_INUSE])) &&
	    (w->files[SERVE_ALLOCS] < 0 || make_profile(&loaded, o, JPROF_ALLOC_SPACE, w->files[SERVE_ALLOCS])) &&
	    (w->files[SERVE_PAGE] < 0 || make_page(&loaded, o, inputs, w->files[SERVE_PAGE]));
	loaded_free(&loaded);
	return good;
}

/* ---- numbers ------------------------------------------------------------------------------------------------------
 */

/* As `jprof diff` compares them. */
static bool load_growth(struct loaded_series *growth, const struct serve_options *o, const struct live_input *both)
{
	char diff[] = "diff", *none[] = { diff, NULL }, *dumps[] = { first_name, last_name };
	const struct inputs inputs = { .dumps = dumps, .dump_count = 2, .live = both, .live_count = 2 };
	struct diff_options how;
	if (!diff_options_parse(&how, false, 1, none))
		return false;
	how.common.debug_dir = o->report.debug_dir;
	how.common.debuginfod = o->report.debuginfod;
	how.common.no_sandbox = o->report.no_sandbox;
	return series_load(growth, &inputs, &how);
}

static bool write_metrics(const struct jprof_explanation *explanation, const struct jprof_series *series, int fd)
{
	char *text = NULL;
	size_t len;
	FILE *out = shortage_note(textstream_open(&text, &len));
	if (out) {
		metrics_put(out, explanation, series);
		text = shortage_close(out, &text);
	}
	bool good = text && fd_write(fd, text, strlen(text), true) == 0;
	free(text);
	return good;
}

/* Where the memory is, as `jprof explain` has it, and what grew since the first snapshot if there is one. */
static enum serve_made make_metrics(const struct serve_options *o, const struct inputs *inputs,
                                    const struct live_input *first, int fd)
{
	struct options report = o->report;
	struct loaded_series growth = { 0 };
	struct loaded loaded;
	report.heap = HEAP_MALLOC; /* Ruby's own heap is counted, and has a row */
	if (!load_profile(&loaded, inputs, &report))
		return SERVE_FAILED;
	const struct live_input both[] = { *first, *inputs->live };
	struct jprof_explanation *explanation = page_explanation(&loaded, NULL);
	bool good = explanation && (!first->len || load_growth(&growth, o, both));
	const struct jprof_series_info *info = growth.series ? jprof_series_info(growth.series) : NULL;
	bool others = info && (!info->same_program || (info->replaced && info->replaced == info->processes[1]));
	good = good && write_metrics(explanation, others ? NULL : growth.series, fd);
	series_release(&growth);
	jprof_explain_free(explanation);
	loaded_free(&loaded);
	return !good ? SERVE_FAILED : others ? SERVE_OTHERS : SERVE_MADE;
}

/* ---- all of it -------------------------------------------------------------------------------------------------- */

static enum serve_made make_all(const struct serve_options *o, const struct heap_work *w, const struct live_input *last)
{
	char *dumps[] = { last_name };
	const struct inputs inputs = { .dumps = dumps, .dump_count = 1, .live = last, .live_count = 1 };
	struct live_input first = { 0 };
	if (!make_of_profile(o, w, &inputs))
		return SERVE_FAILED;
	if (w->files[SERVE_METRICS] < 0)
		return SERVE_MADE;
	if (w->first >= 0 && !map_snapshot(w->first, first_name, &first))
		return SERVE_FAILED;
	return make_metrics(o, &inputs, &first, w->files[SERVE_METRICS]);
}

enum serve_made heap_make(const struct serve_options *o, const struct heap_work *w)
{
	struct memsnap snap = { 0 };
	struct live_input last = { 0 };
	if (!budget_watch(o->report.max_memory))
		return SERVE_FAILED;
	bool good = w->last >= 0 ? map_snapshot(w->last, last_name, &last) : take_snapshot(o, w->gc, &snap);
	if (good && w->last < 0) {
		last = (struct live_input){ .name = last_name, .data = snap.bundle, .len = snap.len };
		good = !fd_write(w->files[SERVE_BUNDLE], snap.bundle, snap.len, true);
	}
	enum serve_made made = good ? make_all(o, w, &last) : SERVE_FAILED;
	memsnap_free(&snap);
	sandbox_end();
	return made;
}
