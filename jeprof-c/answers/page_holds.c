#include "answers/page_holds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"
#include "cli/shortage.h"

enum { tags_named = 5 };

/* "the tags route GET /, job Mail and 3 more", or "no tags". */
static void put_tags(FILE *out, const struct jprof_table *table)
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
		fprintf(out, "%s%s", count++ ? ", " : "the tags ", name);
	}
	if (!count)
		fputs("no tags", out);
	else if (others)
		fprintf(out, " and %zu more", others);
}

/* The rows by tag; NULL: nothing has any, or memory is short. */
static struct jprof_view *load_tags(const struct page *page, const struct options *o, struct jprof_table **table)
{
	const struct jprof_view_opts opts = { .size = sizeof opts, .granularity = JPROF_BY_TAG, .counter = o->counter };
	struct jprof_view *view = NULL;
	*table = NULL;
	if (!shortage_note_code(jprof_view_new(page->loaded->profile, &opts, &view, NULL)))
		shortage_note_code(jprof_table_new(view, NULL, table, NULL));
	return view;
}

void page_say_holds(const struct page *page, const struct options *o, const struct jprof_page_source *source)
{
	char *text = NULL;
	size_t len;
	FILE *out = shortage_note(open_memstream(&text, &len));
	struct jprof_table *table;
	struct jprof_view *view = load_tags(page, o, &table);
	if (out && source->lines)
		fprintf(out, "%zu lines of source from %zu file%s (--no-source leaves them out) and ", source->lines,
		        source->files, source->files == 1 ? "" : "s");
	else if (out)
		fputs("no lines of source and ", out);
	if (out) {
		put_tags(out, table);
		if (shortage_close(out, &text))
			say("the page holds the names of functions and files, %s", text);
	}
	free(text);
	jprof_table_free(table);
	jprof_view_free(view);
}
