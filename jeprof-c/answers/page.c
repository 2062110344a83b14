#include "answers/page.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/say.h"
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

static bool render_page(const struct page *page, const struct options *o, struct page_bytes *bytes)
{
	struct options whole = *o;
	struct jprof_error err = { 0 };
	whole.fold = FOLD_NONE;
	if (page_offers_ruby(o))
		whole.ruby = JPROF_RUBY_MERGED;
	struct jprof_view *view = load_view(page->loaded, o);
	struct jprof_view *unfolded = view ? load_view(page->loaded, &whole) : NULL;
	char *answer = unfolded ? page_answer(page, view) : NULL;
	int rc = JPROF_E_NOMEM;
	if (answer) {
		struct jprof_report_opts opts = options_report(o);
		opts.page_answer = answer;
		rc = jprof_render(unfolded, "html", &opts, write_page_bytes, bytes, &err);
	}
	if (answer && rc)
		say_error(&err);
	else if (unfolded && !answer)
		say("memory is short");
	free(answer);
	jprof_view_free(unfolded);
	jprof_view_free(view);
	return !rc;
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
	bytes.file = open_memstream(&bytes.data, &bytes.len);
	bool good = bytes.file && render_page(page, &o, &bytes);
	if (!bytes.file)
		say("memory is short");
	else if (fclose(bytes.file))
		good = false;
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
	return jprof_explain_new(now->profile, change ? change->profile : NULL, NULL, &explanation, NULL) ? NULL
	                                                                                                  : explanation;
}
