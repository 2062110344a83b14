#include "answers/owners.h"

#include <math.h>
#include <string.h>

#include "answers/kinds.h"
#include "base/error.h"
#include "model/profile.h"

/* What tells owners apart best: lines of Ruby; groups of a Ruby without them, whose functions may be nameless. */
static enum jprof_granularity place_of(const struct jprof_profile *now)
{
	return now->info.has_ruby                        ? JPROF_BY_SITE
	       : *now->outside.now.figures.settings.ruby ? JPROF_BY_GROUP
	                                                 : JPROF_BY_FUNCTION;
}

int jp_owner_views_make(struct jp_owner_views *views, const struct jprof_profile *now,
                        const struct jprof_profile *change, const struct jprof_explain_opts *opts,
                        struct jprof_error *err)
{
	const struct {
		struct jprof_view **view;
		const struct jprof_profile *profile;
		enum jprof_granularity by;
	} rows[] = { { &views->group, now, JPROF_BY_GROUP },
		     { &views->site, place_of(now) == JPROF_BY_GROUP ? NULL : now, place_of(now) },
		     { &views->group_change, change, JPROF_BY_GROUP } };
	int rc = 0;
	*views = (struct jp_owner_views){ 0 };
	for (size_t i = 0; !rc && i < jp_count(rows); i++) {
		struct jprof_view_opts view = { .size = sizeof view,
			                        .granularity = rows[i].by,
			                        .fold = JPROF_FOLD_ALLOC,
			                        .errors = true,
			                        .heap = JPROF_HEAP_MALLOC,
			                        .rules = opts->rules,
			                        .rules_len = opts->rules_len };
		if (rows[i].profile)
			rc = jprof_view_new(rows[i].profile, &view, rows[i].view, err);
	}
	views->place = views->site ? views->site : views->group;
	return rc;
}

void jp_owner_views_release(struct jp_owner_views *views)
{
	jprof_view_free(views->group);
	jprof_view_free(views->site);
	jprof_view_free(views->group_change);
}

/* The rows of a view and of its change. */
struct owner_tables {
	struct jprof_table *now, *change;
};

static int open_tables(struct owner_tables *t, const struct jprof_view *now, const struct jprof_view *change,
                       struct jprof_error *err)
{
	*t = (struct owner_tables){ 0 };
	int rc = jprof_table_new(now, NULL, &t->now, err);
	return rc || !change ? rc : jprof_table_new(change, NULL, &t->change, err);
}

static void close_tables(struct owner_tables *t)
{
	jprof_table_free(t->now);
	jprof_table_free(t->change);
}

static const struct jprof_row *row_called(const struct jprof_table *table, const char *name)
{
	for (size_t i = 0; i < jprof_table_count(table); i++)
		if (!strcmp(jprof_table_at(table, i)->name, name))
			return jprof_table_at(table, i);
	return NULL;
}

/* A row of now, or one that is in the change alone: then there is nothing left of it. */
static int add_owner(struct jprof_explanation *e, const struct owner_tables *t, const struct jprof_row *row,
                     const struct jprof_row *changed, enum jprof_part part, const char *name)
{
	static const struct jprof_range none = { .error = NAN, .low = NAN, .high = NAN, .samples = NAN };
	struct jp_figure_pair figure = { row ? row->flat : 0, t->change ? changed ? changed->flat : 0 : NAN };
	struct jprof_explained *to = jp_explain_row(e, part, part == JPROF_PART_KIND ? 1 : 2, figure);
	if (!to || !(to->name = jp_arena_dup(&e->arena, name, strlen(name))))
		return -1;
	const struct jprof_row *known = row ? row : changed;
	if ((known->what && !(to->what = jp_arena_dup(&e->arena, known->what, strlen(known->what)))) ||
	    (known->remedy && !(to->remedy = jp_arena_dup(&e->arena, known->remedy, strlen(known->remedy)))))
		return -1;
	to->range = row ? row->flat_range : none;
	to->growth_range = changed ? changed->flat_range : none;
	return 0;
}

/* The rows of one kind in the order of now, then those of which nothing is left. */
static int add_groups_of_kind(struct jprof_explanation *e, const struct owner_tables *t, const char *kind)
{
	int rc = 0;
	for (size_t i = 0; !rc && i < jprof_table_count(t->now); i++) {
		const struct jprof_row *row = jprof_table_at(t->now, i);
		const char *name = jp_name_in_kind(row->name, kind);
		if (name)
			rc = add_owner(e, t, row, row_called(t->change, row->name), JPROF_PART_GROUP, name);
	}
	for (size_t i = 0; !rc && i < jprof_table_count(t->change); i++) {
		const struct jprof_row *row = jprof_table_at(t->change, i);
		const char *name = jp_name_in_kind(row->name, kind);
		if (name && !row_called(t->now, row->name))
			rc = add_owner(e, t, NULL, row, JPROF_PART_GROUP, name);
	}
	return rc;
}

static int add_kind(struct jprof_explanation *e, const struct owner_tables *groups, const struct jprof_row *row,
                    const struct jprof_row *changed)
{
	const char *name = row ? row->name : changed->name;
	return add_owner(e, groups, row, changed, JPROF_PART_KIND, name) || add_groups_of_kind(e, groups, name) ? -1
	                                                                                                        : 0;
}

/* Likewise the kinds themselves. */
static int add_kinds(struct jprof_explanation *e, const struct owner_tables *groups, const struct jp_kinds *now,
                     const struct jp_kinds *change)
{
	int rc = 0;
	for (size_t i = 0; !rc && i < now->count; i++)
		rc = add_kind(e, groups, &now->rows[i], jp_kind_called(change, now->rows[i].name));
	for (size_t i = 0; !rc && i < change->count; i++)
		if (!jp_kind_called(now, change->rows[i].name))
			rc = add_kind(e, groups, NULL, &change->rows[i]);
	return rc;
}

int jp_explain_owners(struct jprof_explanation *e, const struct jp_owner_views *views, struct jprof_error *err)
{
	struct owner_tables groups;
	struct jp_kinds now = { 0 }, change = { 0 };
	int rc = open_tables(&groups, views->group, views->group_change, err);
	if (!rc && (jp_kinds_of(&now, views->group) || jp_kinds_of(&change, views->group_change) ||
	            add_kinds(e, &groups, &now, &change)))
		rc = jp_error_nomem(err);
	close_tables(&groups);
	jp_kinds_release(&now);
	jp_kinds_release(&change);
	return rc;
}
