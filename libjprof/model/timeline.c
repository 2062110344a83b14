#include "model/timeline.h"

#include <string.h>

/* The first border of an epoch after `at`, of the process that the line is made of; `now` where there is none. */
static uint64_t next_border(const struct jp_ages *a, const struct jp_epochs *epochs, uint64_t at)
{
	uint64_t next = a->now;
	for (uint32_t i = 0; i < epochs->holders.count; i++) {
		struct jp_holder holder;
		memcpy(&holder, jp_intern_get(&epochs->holders, i), sizeof holder);
		const struct jp_aged *e = &a->epochs[holder.epoch];
		if (holder.process != a->process || e->stage != JP_STAGE_SINCE)
			continue;
		if (e->begin > at && e->begin < next)
			next = e->begin;
		if (e->end > at && e->end < next)
			next = e->end;
	}
	return next;
}

static uint64_t longest_epoch(const struct jp_ages *a)
{
	uint64_t longest = 0;
	for (uint32_t i = 0; i < a->count; i++)
		if (a->epochs[i].stage == JP_STAGE_SINCE && a->epochs[i].end - a->epochs[i].begin > longest)
			longest = a->epochs[i].end - a->epochs[i].begin;
	return longest;
}

void jp_timeline_make(struct jp_timeline *line, const struct jp_ages *a, const struct jp_epochs *epochs)
{
	uint64_t begin = a->settled, life = a->now > begin ? a->now - begin : 0, last = begin;
	uint64_t least = life / jp_timeline_most + 1, most = longest_epoch(a);
	*line = (struct jp_timeline){ .border = { begin } };
	if (most < 2 * least)
		most = 2 * least;
	while (a->now > last && a->now - last >= least) {
		uint64_t at = next_border(a, epochs, last + least - 1);
		if (at - last > most + most / 2) /* nothing is left of what was allocated here */
			at = last + most;
		line->length[line->count++] = (double)(at - last) / 1000;
		line->border[line->count] = last = at;
	}
	if (line->count && line->border[line->count] < a->now) {
		line->length[line->count - 1] += (double)(a->now - line->border[line->count]) / 1000;
		line->border[line->count] = a->now;
	}
}

uint32_t jp_timeline_piece(const struct jp_timeline *line, const struct jp_aged *e)
{
	uint64_t middle = e->begin + (e->end - e->begin) / 2;
	if (e->stage != JP_STAGE_SINCE || !line->count)
		return JP_NONE;
	for (uint32_t i = 0; i < line->count; i++)
		if (middle < line->border[i + 1])
			return i;
	return line->count - 1;
}
