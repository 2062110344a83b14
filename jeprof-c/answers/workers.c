#include "answers/workers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { most_of_service = 17, pid_most = 24 };

/* The processes of the last snapshot that were there at the first, by their pids. */
struct service_members {
	char pids[most_of_service][pid_most];
	bool master[most_of_service];
	size_t count, masters;
};

static bool was_there(const struct jprof_bundle *bundle, const struct jprof_bundle_member *member)
{
	for (size_t i = 0; i < jprof_bundle_count(bundle); i++) {
		const struct jprof_bundle_member *other = jprof_bundle_member(bundle, i);
		if (other->pid == member->pid && other->start_ticks == member->start_ticks)
			return true;
	}
	return false;
}

static bool list_service(struct service_members *list, const struct jprof_bundle *first,
                         const struct jprof_bundle *last)
{
	for (size_t i = 0; i < jprof_bundle_count(last); i++) {
		const struct jprof_bundle_member *m = jprof_bundle_member(last, i);
		bool master = !strcmp(m->role, "master");
		if (!master && strcmp(m->role, "worker") != 0)
			continue;
		if (list->count == most_of_service || !m->pid || !was_there(first, m))
			return false;
		snprintf(list->pids[list->count], pid_most, "%llu", (unsigned long long)m->pid);
		list->master[list->count++] = master;
		list->masters += master;
	}
	return list->count - list->masters > 1;
}

static bool find_members(struct service_members *list, const char *first_path, const char *last_path)
{
	struct jprof_bundle *first = NULL, *last = NULL;
	bool good = !jprof_bundle_open(first_path, &first, NULL) && !jprof_bundle_open(last_path, &last, NULL) &&
	            list_service(list, first, last);
	jprof_bundle_free(first);
	jprof_bundle_free(last);
	return good;
}

static const struct jprof_grown *grown_named(const struct jprof_series *series, const char *name)
{
	const struct jprof_grown *row;
	for (size_t i = 0; (row = jprof_series_at(series, i)); i++)
		if (row->part == JPROF_PART_LIVE && !strcmp(row->name, name))
			return row;
	return NULL;
}

/* What one process adds; `equal`: the growth that each worker would have if all had the same. A row that it does not
 * have grew by nothing. */
static void add_worker(struct worker_share *share, const struct jprof_grown *row, bool master, double equal)
{
	if (master)
		share->master = row ? fmax(row->values[1], 0) : 0;
	share->grew += !master && row && row->whole.range.low > 0;
	share->quiet += !master && (!row || row->whole.range.high < equal / 2);
}

void workers_find(const struct loaded_series *l, const struct inputs *inputs, const struct diff_options *o,
                  const struct jprof_grown *const *rows, size_t count, struct worker_share *shares)
{
	struct service_members list = { .count = 0 };
	const struct jprof_series_info *info = jprof_series_info(l->series);
	for (size_t i = 0; i < count; i++)
		shares[i] = (struct worker_share){ .master = NAN };
	if (!count || inputs->live_count || o->common.member || info->workers < 2 || info->replaced ||
	    !find_members(&list, l->paths[0], l->paths[l->count - 1]))
		return;
	size_t workers = list.count - list.masters;
	for (size_t m = 0; m < list.count; m++) {
		struct jprof_series *own = series_of_member(l, inputs, o, list.pids[m]);
		for (size_t i = 0; own && i < count; i++) {
			shares[i].workers += !list.master[m];
			add_worker(&shares[i], grown_named(own, rows[i]->name), list.master[m],
			           rows[i]->whole.growth / (double)workers);
		}
		jprof_series_free(own);
	}
	for (size_t i = 0; i < count; i++) {
		if (shares[i].workers < workers || rows[i]->part != JPROF_PART_LIVE)
			shares[i].workers = 0;
		if (list.masters != 1)
			shares[i].master = NAN;
	}
}

struct measured workers_words(const struct worker_share *s)
{
	struct measured words = { "" };
	if (s->workers < 2 || !s->grew || s->grew + s->quiet < s->workers)
		return words;
	if (s->grew == s->workers && s->workers == 2)
		return (struct measured){ "in both workers" };
	if (s->grew == s->workers)
		snprintf(words.text, sizeof words.text, "in all %zu workers", s->workers);
	else
		snprintf(words.text, sizeof words.text, "in %zu of %zu workers", s->grew, s->workers);
	return words;
}
