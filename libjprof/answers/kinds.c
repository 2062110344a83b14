#include "answers/kinds.h"

#include <stdlib.h>
#include <string.h>

const char *jp_name_in_kind(const char *group, const char *kind)
{
	size_t len = strlen(kind);
	return strncmp(group, kind, len) || strncmp(group + len, ": ", 2) ? NULL : group + len + 2;
}

/* By row of groups: its kind. NULL when memory is short. */
static uint32_t *kinds_by_row(struct jp_kinds *kinds, const struct jprof_view *groups)
{
	uint32_t *kind = calloc((size_t)groups->row_count + 1, sizeof *kind);
	for (uint32_t i = 0; kind && i < groups->row_count; i++) {
		const char *name = groups->rows[i].name, *end = strstr(name, ": ");
		kind[i] = jp_intern(&kinds->names, name, end ? (size_t)(end - name) : strlen(name));
		if (kind[i] == JP_NONE) {
			free(kind);
			return NULL;
		}
	}
	return kind;
}

static int larger_kind(const void *a, const void *b)
{
	const struct jprof_row *x = a, *y = b;
	return x->flat != y->flat ? (x->flat > y->flat ? -1 : 1) : strcmp(x->name, y->name);
}

/* What each kind's rows hold, and what that rests on. */
static int add_kinds_up(struct jp_kinds *kinds, const struct jprof_view *groups, const uint32_t *kind)
{
	struct jp_evidence *evidence = calloc((size_t)kinds->names.count + 1, sizeof *evidence);
	kinds->rows = calloc((size_t)kinds->names.count + 1, sizeof *kinds->rows);
	for (uint32_t i = 0; evidence && kinds->rows && i < groups->stack_count; i++)
		if (groups->paths[i].length) {
			uint32_t id = kind[groups->paths[i].rows[0]];
			kinds->rows[id].flat += jp_stack_value(groups, i);
			jp_evidence_add(&evidence[id], &groups->evidence[i]);
		}
	for (uint32_t i = 0; evidence && kinds->rows && i < kinds->names.count; i++) {
		if (kinds->rows[i].flat == 0)
			continue;
		struct jprof_row *row = &kinds->rows[kinds->count++];
		*row = (struct jprof_row){ .name = jp_intern_get(&kinds->names, i), .flat = kinds->rows[i].flat };
		row->flat_range = jp_evidence_range(&groups->lineage, &evidence[i], groups->info.counter);
	}
	int rc = evidence && kinds->rows ? 0 : -1;
	free(evidence);
	return rc;
}

int jp_kinds_of(struct jp_kinds *kinds, const struct jprof_view *groups)
{
	*kinds = (struct jp_kinds){ 0 };
	if (!groups)
		return 0;
	uint32_t *kind = kinds_by_row(kinds, groups);
	int rc = kind ? add_kinds_up(kinds, groups, kind) : -1;
	free(kind);
	if (!rc && kinds->count)
		qsort(kinds->rows, kinds->count, sizeof *kinds->rows, larger_kind);
	return rc;
}

void jp_kinds_release(struct jp_kinds *kinds)
{
	free(kinds->rows);
	jp_intern_release(&kinds->names);
	*kinds = (struct jp_kinds){ 0 };
}

const struct jprof_row *jp_kind_called(const struct jp_kinds *kinds, const char *name)
{
	for (size_t i = 0; i < kinds->count; i++)
		if (!strcmp(kinds->rows[i].name, name))
			return &kinds->rows[i];
	return NULL;
}
