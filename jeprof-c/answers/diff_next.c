/* The next command to type after a diff. */
#include <math.h>

#include "answers/diff_text.h"

/* Where no row alone grew, though all of them did: the same by library. */
static void add_wider_rows(struct typed *next, const struct diff_report *r)
{
	const struct loaded_series *l = r->loaded;
	diff_next_command(next, "jprof diff --by=lib", l, r->options);
	diff_add_rows(next, r->options);
	for (size_t i = 0; i < l->count; i++)
		typed_word(next, l->paths[i]);
}

/* Where all of the memory is. */
static void add_all_memory(struct typed *next, const struct diff_report *r)
{
	const struct loaded_series *l = r->loaded;
	diff_next_command(next, "jprof explain", l, r->options);
	typed_word(next, l->paths[0]);
	typed_word(next, l->paths[l->count - 1]);
}

/* The page has no rows of some kinds: then it has the usual ones. */
void diff_add_page(struct typed *next, const struct diff_report *r)
{
	const struct loaded_series *l = r->loaded;
	struct diff_options o = *r->options;
	if (o.by == BY_STACK || o.by == BY_SIZE || o.by == BY_REFERRER || o.by == BY_FILE || o.by == BY_GROUP)
		o.by = BY_USUAL;
	diff_next_command(next, "jprof diff --html -o growth.html", l, &o);
	diff_add_rows(next, &o);
	for (size_t i = 0; i < l->count; i++)
		typed_word(next, l->paths[i]);
}

/* Whether explain says more: of what was counted, or where what grew lies outside of malloc and of Ruby's heap. */
static bool is_for_explain(const struct diff_report *r)
{
	const struct jprof_series_info *info = jprof_series_info(r->loaded->series);
	const struct jprof_grown *first = diff_suspect(r->loaded->series, 0);
	bool outside = first && first->part != JPROF_PART_LIVE && first->part != JPROF_PART_GC_HEAP;
	return !isnan(info->total[1]) && (info->counted || outside);
}

void diff_put_next(FILE *out, const struct diff_report *r)
{
	const struct loaded_series *l = r->loaded;
	struct typed next = { 0 };
	bool counted = jprof_series_info(l->series)->counted;
	bool spread = !counted && !diff_suspect(l->series, 0) && series_all_grew(l->series) && l->by == BY_USUAL;
	(spread ? add_wider_rows : is_for_explain(r) ? add_all_memory : diff_add_page)(&next, r);
	if (!next.failed)
		fprintf(out, "\nNext:  %s\n", next.text);
	if (*l->lines.text && !l->lines.failed)
		fprintf(out, "%s  %s\n", counted ? "Which line made it:" : "To have lines of Ruby:", l->lines.text);
}
