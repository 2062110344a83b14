#include "model/epochs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

static uint64_t hash_epoch(uint64_t seed, const void *item)
{
	const struct jp_epoch *e = item;
	return jp_hash_mix(jp_hash_mix(seed, e->begin), e->number);
}

static bool same_epoch(const void *a, const void *b)
{
	const struct jp_epoch *x = a, *y = b;
	return x->begin == y->begin && x->number == y->number;
}

static const struct jp_index_kind epoch_kind = { sizeof(struct jp_epoch), hash_epoch, same_epoch };

/* ---- of one dump ----------------------------------------------------------------------------------------- */

static uint32_t process_add(struct jp_epochs *epochs, const char *name, size_t len, const struct jp_epoch_process *like)
{
	uint32_t known = epochs->names.count, id = jp_intern(&epochs->names, name, len);
	if (id != known || id == JP_NONE)
		return id;
	if (jp_array_push(epochs->processes, id, epochs->process_cap)) {
		jp_intern_cut(&epochs->names, known);
		return JP_NONE;
	}
	epochs->processes[id] = *like;
	return id;
}

uint32_t jp_epochs_process(struct jp_epochs *epochs, const struct jp_rubytable *t)
{
	struct jp_epoch_process process = { .time = t->time,
		                            .before = (uint32_t)t->before,
		                            .began = t->began,
		                            .first = (uint32_t)t->first,
		                            .forked = t->forks > 0 };
	char name[512];
	int len = snprintf(name, sizeof name, "%llu %llu %.400s", (unsigned long long)t->pid,
	                   (unsigned long long)t->start_ticks, t->boot ? t->boot : "");
	return process_add(epochs, name, (size_t)len, &process);
}

static uint32_t epoch_add(struct jp_epochs *epochs, const struct jp_epoch *like)
{
	bool known;
	if (jp_array_push(epochs->items, epochs->ids.count, epochs->cap))
		return JP_NONE;
	uint32_t id = jp_index_id(&epochs->ids, &epoch_kind, epochs->items, like, &known);
	if (id != JP_NONE && !known)
		epochs->items[id] = *like;
	return id;
}

static int hold(struct jp_epochs *epochs, uint32_t epoch, uint32_t process)
{
	struct jp_holder holder = { epoch, process };
	return jp_intern(&epochs->holders, &holder, sizeof holder) == JP_NONE ? -1 : 0;
}

uint32_t jp_epochs_of(struct jp_epochs *epochs, uint32_t process, const struct jp_rubytable *t, uint32_t number)
{
	const struct jp_rubyepoch *span = jp_rubytable_epoch(t, number);
	struct jp_epoch like = { .number = number, .begin = span ? span->begin : 0, .end = span ? span->end : 0 };
	uint32_t id = epoch_add(epochs, &like);
	return id == JP_NONE || hold(epochs, id, process) ? JP_NONE : id;
}

/* ---- of several ---------------------------------------------------------------------------------------------- */

static struct jp_holder holder_at(const struct jp_epochs *epochs, uint32_t i)
{
	struct jp_holder holder;
	memcpy(&holder, jp_intern_get(&epochs->holders, i), sizeof holder);
	return holder;
}

static int match_epochs(struct jp_epochs *to, const struct jp_epochs *from, struct jp_epochs_join *join)
{
	uint32_t count = from->ids.count;
	for (uint32_t i = 0; i < count; i++) {
		struct jp_epoch like = from->items[i];
		join->epoch[i] = epoch_add(to, &like);
		if (join->epoch[i] == JP_NONE)
			return -1;
		join->closed[join->epoch[i]] = join->epoch[i] < join->epochs;
	}
	return 0;
}

static int match_processes(struct jp_epochs *to, const struct jp_epochs *from, struct jp_epochs_join *join)
{
	uint32_t count = from->names.count;
	for (uint32_t i = 0; i < count; i++) {
		struct jp_epoch_process like = from->processes[i];
		join->process[i] =
		    process_add(to, jp_intern_get(&from->names, i), jp_intern_len(&from->names, i), &like);
		if (join->process[i] == JP_NONE)
			return -1;
		join->same_process |= join->process[i] < join->processes;
	}
	return 0;
}

/* In a sum the processes of both hold their epochs. */
static int match_holders(struct jp_epochs *to, const struct jp_epochs *from, const struct jp_epochs_join *join)
{
	uint32_t count = from->holders.count;
	for (uint32_t i = 0; i < count; i++) {
		struct jp_holder holder = holder_at(from, i);
		if (hold(to, join->epoch[holder.epoch], join->process[holder.process]))
			return -1;
	}
	return 0;
}

int jp_epochs_join_begin(struct jp_epochs *to, const struct jp_epochs *from, bool subtracts,
                         struct jp_epochs_join *join)
{
	size_t epochs = (size_t)from->ids.count + 1, processes = (size_t)from->names.count + 1;
	*join = (struct jp_epochs_join){ .epochs = to->ids.count, .processes = to->names.count };
	join->epoch = calloc(epochs, sizeof *join->epoch);
	join->process = calloc(processes, sizeof *join->process);
	join->closed = calloc(epochs + to->ids.count, sizeof *join->closed);
	if (!join->epoch || !join->process || !join->closed || match_epochs(to, from, join) ||
	    match_processes(to, from, join))
		return -1;
	return subtracts ? 0 : match_holders(to, from, join);
}

/* Whether an epoch of a process was over when the others' dump of it was made, before the one here. */
static bool was_over(const struct jp_epoch_process *now, const struct jp_epoch_process *then, uint32_t number)
{
	return !now->unsure && !then->unsure && number <= then->before && then->time <= now->time;
}

void jp_epochs_join_end(struct jp_epochs *to, const struct jp_epochs *from, bool subtracts, bool plain,
                        struct jp_epochs_join *join)
{
	for (uint32_t i = 0; i < from->ids.count; i++)
		join->closed[join->epoch[i]] &= subtracts && plain;
	/* What a process has in an epoch can have become less since the epoch was over, and nothing else: all that is
	 * here is there, if that holds for each process that has it here. */
	for (uint32_t i = 0; i < to->holders.count; i++) {
		struct jp_holder holder = holder_at(to, i);
		bool over = false;
		for (uint32_t p = 0; p < from->names.count && !over; p++)
			over = join->process[p] == holder.process &&
			       was_over(&to->processes[holder.process], &from->processes[p],
			                to->items[holder.epoch].number);
		join->closed[holder.epoch] &= over;
	}
	for (uint32_t i = 0; i < from->ids.count; i++) {
		uint32_t id = join->epoch[i];
		struct jp_epoch *e = &to->items[id];
		e->end = from->items[i].end > e->end ? from->items[i].end : e->end;
		e->open |= from->items[i].open || (subtracts && id < join->epochs && !join->closed[id]);
	}
	for (uint32_t i = 0; i < from->names.count; i++)
		if (join->process[i] < join->processes) {
			struct jp_epoch_process *both = &to->processes[join->process[i]];
			both->unsure |= !subtracts;
			both->base_time = subtracts ? from->processes[i].time : both->base_time;
		}
}

void jp_epochs_join_release(struct jp_epochs_join *join)
{
	free(join->epoch);
	free(join->process);
	free(join->closed);
	*join = (struct jp_epochs_join){ 0 };
}

void jp_epochs_cut(struct jp_epochs *epochs, const struct jp_epochs *was)
{
	jp_index_cut(&epochs->ids, &epoch_kind, epochs->items, was->ids.count);
	jp_intern_cut(&epochs->names, was->names.count);
	jp_intern_cut(&epochs->holders, was->holders.count);
}

void jp_epochs_release(struct jp_epochs *epochs)
{
	jp_index_release(&epochs->ids);
	jp_intern_release(&epochs->names);
	jp_intern_release(&epochs->holders);
	free(epochs->items);
	free(epochs->processes);
	*epochs = (struct jp_epochs){ 0 };
}
