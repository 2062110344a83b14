#include "answers/page.h"

#include <stdlib.h>
#include <unistd.h>

#include "answers/page_holds.h"
#include "answers/page_parts.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "report/browser.h"

/* The page, which is made in memory: a browser gets all of it or nothing. */
struct page_bytes {
	FILE *file;
	char *data;
	size_t len;
};

static int write_page_bytes(void *context, const void *data, size_t len)
{
	struct page_bytes *bytes = context;
	return fwrite(data, 1, len, bytes->file) == len ? 0 : -1;
}

/* The view of all that the page can show, with ages where they are known; NULL after having said what is wrong. */
static struct jprof_view *load_page_view(const struct page *page, const struct options *whole)
{
	struct options aged = *whole;
	struct jprof_view_opts opts;
	struct jprof_view *view;
	aged.ages = true;
	opts = options_view(&aged);
	opts.thread = page->loaded->thread;
	return jprof_view_new(page->loaded->profile, &opts, &view, NULL) ? load_view(page->loaded, whole) : view;
}

static bool write_page(const struct page *page, const struct options *o, const struct jprof_view *whole,
                       const struct page_parts *parts, struct page_bytes *bytes)
{
	struct jprof_view *view = load_view(page->loaded, o);
	struct jprof_page_source source = { 0 };
	struct jprof_error err = { 0 };
	char *processes = page_processes(parts),
	     *answer = view && processes ? page_answer(page, view, processes) : NULL;
	int rc = JPROF_E_NOMEM;
	if (answer) {
		struct jprof_report_opts opts = options_report(o);
		opts.page_answer = answer;
		opts.page_parts = parts->items;
		opts.page_part_count = parts->count;
		opts.with_source = !o->no_source;
		opts.page_source = &source;
		rc = jprof_render(whole, "html", &opts, write_page_bytes, bytes, &err);
	}
	if (answer && rc)
		say_error(&err);
	else if (view && !answer)
		say("memory is short");
	if (!rc)
		page_say_holds(page, o, &source);
	free(answer);
	free(processes);
	jprof_view_free(view);
	return !rc;
}

static bool render_page(const struct page *page, const struct options *o, struct page_bytes *bytes)
{
	struct options whole = *o;
	struct page_parts parts = { 0 };
	whole.fold = FOLD_NONE;
	if (page_offers_ruby(o))
		whole.ruby = JPROF_RUBY_MERGED;
	struct jprof_view *view = load_page_view(page, &whole);
	bool good = view && page_parts_load(&parts, page, &whole) && write_page(page, o, view, &parts, bytes);
	jprof_view_free(view);
	page_parts_release(&parts);
	return good;
}

bool page_possible(const struct options *o, int rows)
{
	if (!o->open && !o->file && isatty(STDOUT_FILENO)) {
		say("--html makes a page for a browser; give -o FILE.html, or --open to see it");
		return false;
	}
	if (rows == JPROF_BY_FILE || rows == JPROF_BY_ADDRESS || rows == JPROF_BY_KIND || rows == JPROF_BY_GROUP) {
		say("a page has no such rows; with --html give --by=function, line, lib or tag");
		return false;
	}
	return true;
}

bool page_put(const struct page *page, struct sink *sink)
{
	struct options o = *page->options;
	struct page_bytes bytes = { 0 };
	o.output = "html";
	bytes.file = shortage_note(open_memstream(&bytes.data, &bytes.len));
	bool good = bytes.file && render_page(page, &o, &bytes);
	good = (!bytes.file || shortage_close(bytes.file, &bytes.data)) && good;
	good = !shortage_say() && good;
	if (good && o.open && !o.file)
		good = browser_show(NULL, "heap.html", bytes.data, bytes.len);
	else if (good)
		good = !sink_write(sink, bytes.data, bytes.len);
	free(bytes.data);
	return good;
}

int page_end(const struct options *o, struct sink *sink, bool good)
{
	sink->failed = sink->failed || !good;
	if (!sink_close(sink)) {
		say("%s: cannot be written: %s", o->file, sink->why);
		return 1;
	}
	if (good && o->open && o->file)
		good = browser_show(o->file, "heap.html", NULL, 0);
	return good ? 0 : 1;
}

struct jprof_explanation *page_explanation(const struct loaded *now, const struct loaded *change)
{
	struct jprof_explanation *explanation;
	int rc = jprof_explain_new(now->profile, change ? change->profile : NULL, NULL, &explanation, NULL);
	return shortage_note_code(rc) ? NULL : explanation;
}
