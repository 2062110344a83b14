#include "model/ages.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"

/* What a process makes at its start: in its first epoch, and in those of the first minute, or of the first tenth of a
 * short life. */
enum { start_ms = 60000, start_part = 10 };

/* Epochs that are so near follow each other. */
enum { neighbours_ms = 1000 };

bool jp_epochs_dated(const struct jp_epochs *epochs)
{
	for (uint32_t i = 0; i < epochs->ids.count; i++)
		if (epochs->items[i].number && epochs->items[i].begin)
			return true;
	return false;
}

static uint64_t middle_of(const struct jp_aged *e)
{
	return e->begin + (e->end - e->begin) / 2;
}

/* What an epoch was in the life of one process that has it. */
static enum jp_stage stage_of(const struct jp_aged *e, uint32_t number, const struct jp_epoch_process *p)
{
	uint64_t life = p->time > p->began ? p->time - p->began : 0;
	uint64_t start = life / start_part < start_ms ? life / start_part : start_ms;
	if (number < p->first && p->forked)
		return JP_STAGE_FORK;
	if (number <= (p->first ? p->first : 1))
		return JP_STAGE_STARTUP;
	if (!e->begin)
		return JP_STAGE_UNKNOWN;
	return p->first && middle_of(e) < p->began + start ? JP_STAGE_STARTUP : JP_STAGE_SINCE;
}

/* Of several processes that have an epoch those say what it was that came by a fork, then those that began in it. */
static void find_stages(struct jp_ages *a, const struct jp_epochs *epochs)
{
	for (uint32_t i = 0; i < epochs->holders.count; i++) {
		struct jp_holder holder;
		memcpy(&holder, jp_intern_get(&epochs->holders, i), sizeof holder);
		const struct jp_epoch_process *p = &epochs->processes[holder.process];
		struct jp_aged *e = &a->epochs[holder.epoch];
		enum jp_stage stage = stage_of(e, epochs->items[holder.epoch].number, p);
		e->stage = stage > e->stage ? stage : e->stage;
	}
}

static void find_life(struct jp_ages *a, const struct jp_epochs *epochs)
{
	for (uint32_t i = 0; i < epochs->names.count; i++) {
		const struct jp_epoch_process *p = &epochs->processes[i];
		a->now = p->time > a->now ? p->time : a->now;
		if (p->began && (!a->began || p->began < a->began))
			a->began = p->began;
	}
	for (uint32_t i = 0; i < epochs->ids.count; i++) {
		const struct jp_epoch *e = &epochs->items[i];
		uint64_t known = e->end > e->begin ? e->end : e->begin;
		a->now = known > a->now ? known : a->now;
	}
}

/* When the startup was over that the life began with: its epochs follow each other. 0, or -1 when memory is short. */
static int find_startup_end(struct jp_ages *a)
{
	struct jp_aged *sorted = calloc((size_t)a->count + 1, sizeof *sorted);
	if (!sorted)
		return -1;
	memcpy(sorted, a->epochs, a->count * sizeof *sorted);
	if (a->count)
		qsort(sorted, a->count, sizeof *sorted, jp_by_first);
	a->settled = a->began;
	for (uint32_t i = 0; i < a->count; i++)
		if (sorted[i].stage == JP_STAGE_STARTUP && sorted[i].begin && sorted[i].end > a->settled &&
		    sorted[i].begin <= a->settled + neighbours_ms)
			a->settled = sorted[i].end;
	free(sorted);
	return 0;
}

/* The process with the most epochs since its startup; of several such the first. 0, or -1 when memory is short. */
static int find_main_process(struct jp_ages *a, const struct jp_epochs *epochs)
{
	uint32_t *count = calloc((size_t)epochs->names.count + 1, sizeof *count);
	for (uint32_t i = 0; count && i < epochs->holders.count; i++) {
		struct jp_holder holder;
		memcpy(&holder, jp_intern_get(&epochs->holders, i), sizeof holder);
		count[holder.process] += a->epochs[holder.epoch].stage == JP_STAGE_SINCE;
	}
	for (uint32_t i = 0; count && i < epochs->names.count; i++)
		if (a->process == JP_NONE || count[i] > count[a->process])
			a->process = i;
	int rc = count ? 0 : -1;
	free(count);
	return rc;
}

int jp_ages_init(struct jp_ages *a, const struct jp_epochs *epochs)
{
	*a = (struct jp_ages){ .count = epochs->ids.count, .process = JP_NONE };
	a->epochs = calloc((size_t)a->count + 1, sizeof *a->epochs);
	if (!a->epochs)
		return -1;
	find_life(a, epochs);
	for (uint32_t i = 0; i < a->count; i++) {
		const struct jp_epoch *e = &epochs->items[i];
		a->epochs[i] = (struct jp_aged){ .begin = e->begin, .end = e->begin ? a->now : 0 };
		if (e->end >= e->begin && e->end)
			a->epochs[i].end = e->end;
	}
	find_stages(a, epochs);
	for (uint32_t i = 0; i < a->count; i++)
		if (a->epochs[i].begin && (!a->began || a->epochs[i].begin < a->began) &&
		    a->epochs[i].stage != JP_STAGE_FORK)
			a->began = a->epochs[i].begin;
	return find_startup_end(a) || find_main_process(a, epochs) ? -1 : 0;
}

uint64_t jp_age_of(const struct jp_ages *a, uint32_t epoch)
{
	const struct jp_aged *e = &a->epochs[epoch];
	uint64_t middle = e->begin ? middle_of(e) : a->began;
	return a->now > middle ? a->now - middle : 0;
}

uint64_t jp_age_border(const struct jp_ages *a, uint64_t age)
{
	uint64_t at = a->now > age ? a->now - age : 0, nearest = at, least = UINT64_MAX;
	for (uint32_t i = 0; i < a->count; i++) {
		const struct jp_aged *e = &a->epochs[i];
		uint64_t border = at < middle_of(e) ? e->begin : e->end, off = border < at ? at - border : border - at;
		if (e->begin < at && at < e->end && off < least) {
			nearest = border;
			least = off;
		}
	}
	return a->now - nearest;
}

void jp_ages_release(struct jp_ages *a)
{
	free(a->epochs);
	*a = (struct jp_ages){ 0 };
}
