#include "answers/page_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/jsonprint.h"
#include "cli/say.h"
#include "cli/shortage.h"

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

bool page_parts_load(struct page_parts *parts, const struct page *page, const struct options *whole)
{
	const struct part_maker m = { .parts = parts, .page = page, .whole = whole };
	size_t steps = page->snapshots ? (size_t)page->snapshots->dump_count : 0;
	const char *base = whole->base ? whole->base : whole->diff_base;
	*parts = (struct page_parts){ 0 };
	if (!make_part_room(parts, steps + most_on_page + 1) || !add_steps(&m))
		return false;
	if (page->inputs->dump_count != 1 || page->inputs->live_count || !base != !page->loaded->difference)
		return true;
	struct jprof_bundle *now = bundle_of(page->inputs->dumps[0]), *before = now ? bundle_of(base) : NULL;
	bool good = !now || (base && !before) || add_member_parts(&m, page->inputs->dumps, now, before);
	jprof_bundle_free(before);
	jprof_bundle_free(now);
	return good;
}

char *page_processes(const struct page_parts *parts)
{
	char *text = NULL;
	size_t len;
	FILE *out = shortage_note(open_memstream(&text, &len));
	if (!out)
		return NULL;
	fputs("[", out);
	for (size_t i = 0, count = 0; i < parts->count; i++)
		if (parts->shown[i])
			json_print_at(out, count++, "[%s, %s]", parts->items[i].key, parts->shown[i]);
	fputs("]", out);
	return shortage_close(out, &text);
}

void page_parts_release(struct page_parts *parts)
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
