#include "answers/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answers/page_answer.h"
#include "cli/jsonprint.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "report/browser.h"

enum { tags_named = 5 };

/* "the tags route GET /, job Mail and 3 more", or "no tags". */
static void add_page_tags(struct jp_strbuf *text, const struct jprof_table *table)
{
	size_t count = 0, others = 0;
	const struct jprof_row *row;
	for (size_t i = 0; table && (row = jprof_table_at(table, i)); i++) {
		char name[256];
		if (!strcmp(row->name, "(no tag)"))
			continue;
		if (count == tags_named) {
			others++;
			continue;
		}
		jprof_visible(row->name, name, sizeof name);
		jp_strbuf_printf(text, "%s%s", count++ ? ", " : "the tags ", name);
	}
	if (!count)
		jp_strbuf_str(text, "no tags");
	else if (others)
		jp_strbuf_printf(text, " and %zu more", others);
}

/* The rows by tag; NULL: memory is short. */
static struct jprof_view *load_tags(const struct page *page, const struct options *o, struct jprof_table **table)
{
	const struct jprof_view_opts opts = { .size = sizeof opts, .granularity = JPROF_BY_TAG, .counter = o->counter };
	struct jprof_view *view = NULL;
	if (!shortage_note_code(jprof_view_new(page->loaded->profile, &opts, &view, NULL)))
		shortage_note_code(jprof_table_new(view, NULL, table, NULL));
	return view;
}

/* Says how many lines of source and which tags a page has, for pages are passed on. */
static void page_say_holds(const struct page *page, const struct options *o, const struct jprof_page_source *source)
{
	struct jp_strbuf text = { 0 };
	struct jprof_table *table = NULL;
	struct jprof_view *view = jprof_profile_tags(page->loaded->profile) ? load_tags(page, o, &table) : NULL;
	if (source->lines)
		jp_strbuf_printf(&text, "%zu lines of source from %zu file%s (--no-source leaves them out) and ",
		                 source->lines, source->files, source->files == 1 ? "" : "s");
	else
		jp_strbuf_str(&text, "no lines of source and ");
	add_page_tags(&text, table);
	if (!text.failed)
		say("the page holds the names of functions and files, %s", shortage_text(&text));
	shortage_note_code(text.failed ? JPROF_E_NOMEM : 0);
	jp_strbuf_release(&text);
	jprof_table_free(table);
	jprof_view_free(view);
}

/* For jprof_report_opts: views as the page's own, by their keys. "0-1": from the first snapshot to the second;
 * "@NAME": the member of that name. */
struct page_parts {
	struct jprof_page_part *items;
	size_t count;
	struct loaded *loaded; /* by part */
	char **shown;          /* likewise: words for a process, or NULL */
};

enum { most_on_page = 16, key_most = 300 };

/* What parts are made of. */
struct part_maker {
	struct page_parts *parts;
	const struct page *page;
	const struct options *whole;
};

static bool make_part_room(struct page_parts *parts, size_t most)
{
	parts->items = calloc(most, sizeof *parts->items);
	parts->loaded = calloc(most, sizeof *parts->loaded);
	parts->shown = calloc(most, sizeof *parts->shown);
	if (parts->items && parts->loaded && parts->shown)
		return true;
	say("memory is short");
	return false;
}

static bool has_note(const struct jprof_profile *profile, const char *note)
{
	size_t i = 0, count = jprof_profile_notes(profile);
	while (i < count && strcmp(jprof_profile_note(profile, i), note))
		i++;
	return i < count;
}

/* Says what could not be read for the part alone: other remarks are those of the whole page, with other counts. */
static void say_unread(const struct jprof_profile *part, const struct jprof_profile *whole)
{
	for (size_t i = 0; i < jprof_profile_notes(part); i++) {
		enum jprof_advice advice = jprof_profile_note_advice(part, i);
		const char *note = jprof_profile_note(part, i);
		if ((advice == JPROF_ADVICE_READABLE || advice == JPROF_ADVICE_AGAIN) && !has_note(whole, note))
			say_advised(note, advice);
	}
}

/* The difference of two dumps, or one dump where there is no base, of one member or all. */
static bool load_page_part(const struct part_maker *m, const char *key, char **dump, const char *base,
                           const char *member)
{
	struct page_parts *parts = m->parts;
	struct inputs inputs = { .program = m->page->inputs->program,
		                 .from_path = m->page->inputs->from_path,
		                 .dumps = dump,
		                 .dump_count = 1 };
	struct options o = *m->whole;
	struct loaded *loaded = &parts->loaded[parts->count];
	o.member = member ? member : o.member;
	o.base = o.base ? base : NULL;
	o.diff_base = o.base ? NULL : base;
	o.quiet = true;
	struct jprof_view *view = load_profile(loaded, &inputs, &o) ? load_view(loaded, &o) : NULL;
	if (view)
		say_unread(loaded->profile, m->page->loaded->profile);
	parts->items[parts->count] = (struct jprof_page_part){ .key = shortage_note(strdup(key)), .view = view };
	return parts->items[parts->count++].key && view;
}

static bool add_steps(const struct part_maker *m)
{
	const struct inputs *all = m->page->snapshots;
	bool good = true;
	for (int i = 0; good && all && all->dump_count > 2 && i + 1 < all->dump_count; i++) {
		char key[key_most];
		snprintf(key, sizeof key, "%d-%d", i, i + 1);
		good = load_page_part(m, key, all->dumps + i + 1, all->dumps[i], NULL);
	}
	return good;
}

static bool add_member_part(const struct part_maker *m, const struct jprof_bundle_member *member, char **dump,
                            const char *base)
{
	char key[key_most];
	bool role = *member->role;
	snprintf(key, sizeof key, "@%s", member->name);
	if (!load_page_part(m, key, dump, base, member->name))
		return false;
	return asprintf(&m->parts->shown[m->parts->count - 1], "%s%s%s%s", member->name, role ? " (" : "", member->role,
	                role ? ")" : "") > 0;
}

/* The processes that both snapshots have, of a bundle of a few. */
static bool add_member_parts(const struct part_maker *m, char **dump, const struct jprof_bundle *now,
                             const struct jprof_bundle *before)
{
	const struct options *o = m->whole;
	const char *base = o->base ? o->base : o->diff_base;
	size_t count = jprof_bundle_count(now);
	bool good = true;
	if (o->member || count < 2 || count > most_on_page)
		return true;
	for (size_t i = 0; good && i < count; i++) {
		const struct jprof_bundle_member *member = jprof_bundle_member(now, i);
		bool there = !before || jprof_bundle_find(before, member->name, 0) < jprof_bundle_count(before);
		if (there && strlen(member->name) < key_most - 1)
			good = add_member_part(m, member, dump, base);
	}
	return good;
}

/* The bundle in a file; NULL: it is none, which is no fault here. */
static struct jprof_bundle *bundle_of(const char *path)
{
	struct jprof_bundle *bundle;
	return path && strcmp(path, "-") && !jprof_bundle_open(path, &bundle, NULL) ? bundle : NULL;
}

/* Loads them; `whole` are the options of the page's own view. False after having said what is wrong. To be released in
 * either case. */
static bool page_parts_load(struct page_parts *parts, const struct page *page, const struct options *whole)
{
	const struct part_maker m = { .parts = parts, .page = page, .whole = whole };
	size_t steps = page->snapshots ? (size_t)page->snapshots->dump_count : 0;
	const char *base = whole->base ? whole->base : whole->diff_base;
	*parts = (struct page_parts){ 0 };
	if (!make_part_room(parts, steps + most_on_page + 1) || !add_steps(&m))
		return false;
	if (page->inputs->dump_count != 1 || page->inputs->live_count || !base != !page->loaded->difference ||
	    !strchr(jprof_profile_info(page->loaded->profile)->members, ','))
		return true;
	struct jprof_bundle *now = bundle_of(page->inputs->dumps[0]), *before = now ? bundle_of(base) : NULL;
	bool good = !now || (base && !before) || add_member_parts(&m, page->inputs->dumps, now, before);
	jprof_bundle_free(before);
	jprof_bundle_free(now);
	return good;
}

/* The processes that the page can show alone, as JSON: keys and words. For free(); NULL when memory is short. */
static char *page_processes(const struct page_parts *parts)
{
	char *text = NULL;
	size_t len;
	FILE *out = shortage_note(textstream_open(&text, &len));
	if (!out)
		return NULL;
	fputs("[", out);
	for (size_t i = 0, count = 0; i < parts->count; i++)
		if (parts->shown[i])
			json_print_at(out, count++, "[%s, %s]", parts->items[i].key, parts->shown[i]);
	fputs("]", out);
	return shortage_close(out, &text);
}

static void page_parts_release(struct page_parts *parts)
{
	for (size_t i = 0; i < parts->count; i++) {
		jprof_view_free((struct jprof_view *)parts->items[i].view);
		loaded_free(&parts->loaded[i]);
		free((char *)parts->items[i].key);
		free(parts->shown[i]);
	}
	free(parts->items);
	free(parts->loaded);
	free(parts->shown);
	*parts = (struct page_parts){ 0 };
}

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
	if (!rc && !page->silent)
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
	whole.granularity = JPROF_BY_LIBRARY; /* a page adds up its own rows, and these are the fewest */
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

static bool put_whole_page(const struct page *page, struct sink *sink)
{
	struct options o = *page->options;
	struct page_bytes bytes = { 0 };
	o.output = "html";
	bytes.file = shortage_note(textstream_open(&bytes.data, &bytes.len));
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

bool page_put(const struct page *given, struct sink *sink)
{
	struct page page = *given;
	struct jprof_explanation *explanation =
	    page.memory ? page_explanation(page.memory, page.diff ? page.loaded : NULL) : NULL;
	const struct explained what = { .explanation = explanation,
		                        .path = page.inputs->dumps[page.inputs->dump_count - 1],
		                        .members = explanation && !page.diff
		                                       ? jprof_profile_info(page.memory->profile)->members
		                                       : "" };
	page.explained = explanation ? &what : page.explained;
	bool good = put_whole_page(&page, sink);
	jprof_explain_free(explanation);
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
