/* Epochs: the stretches of time in which samples were allocated, as the agent has noted it in each stack
 * (docs/internals/ruby-table.md). A sample has its epoch in its label. A child that was forked shares the epochs that
 * its parent had then: they are the same here where number and begin are. */
#pragma once

#include "base/index.h"
#include "base/intern.h"
#include "input/rubytable.h"

/* Times are by the agent's clock, in milliseconds since 1970. */
struct jp_epoch {
	uint64_t begin, end; /* 0: not known. The end is the latest of all processes that have it */
	uint32_t number;     /* 0: what was there before the agent began to count */
	bool open; /* in a difference: both sides have it, and either may have objects that the other has not */
};

/* A process that a dump with epochs is of. */
struct jp_epoch_process {
	uint64_t time;      /* of the dump */
	uint64_t base_time; /* in a difference, of the dump of it that was subtracted; 0: none was */
	uint64_t began;     /* the process: its start, or the fork that made it */
	uint32_t before;    /* up to this epoch all were over when the dump was made */
	uint32_t first;     /* its first epoch: those before came over a fork. 0: not known, as is when it began */
	bool forked;
	bool unsure; /* no such thing is known: several dumps of it were added, or its stacks have no epochs */
};

/* Epochs of zero bytes are none, and ready for use. */
struct jp_epochs {
	struct jp_epoch *items;
	size_t cap;
	struct jp_index ids;
	struct jp_intern names;             /* of processes: who it is, for a machine and for ever */
	struct jp_epoch_process *processes; /* by id in names */
	size_t process_cap;
	struct jp_intern holders; /* struct jp_holder: which process has which epoch */
};

struct jp_holder {
	uint32_t epoch, process;
};

/* The process of a dump's table, which has epochs; its id, or JP_NONE when memory is short. */
uint32_t jp_epochs_process(struct jp_epochs *epochs, const struct jp_rubytable *table);

/* The epoch of that number in a process, with the times that the table has; JP_NONE when memory is short. */
uint32_t jp_epochs_of(struct jp_epochs *epochs, uint32_t process, const struct jp_rubytable *table, uint32_t number);

/* What the epochs of others are here, and what that means for a difference. To be released. */
struct jp_epochs_join {
	uint32_t *epoch;   /* by the others' id: the id here */
	uint32_t *process; /* likewise */
	bool *closed;      /* by the id here, in a difference: what is there now is a part of what the others have */
	uint32_t epochs, processes; /* that were here before */
	bool same_process;          /* both have one in common */
};

/* Makes all that is needed to add or subtract `from`; nothing changes that was there. 0, or -1 when memory is short. */
int jp_epochs_join_begin(struct jp_epochs *to, const struct jp_epochs *from, bool subtracts,
                         struct jp_epochs_join *join) jp_must_check;

/* Finishes what jp_epochs_join_begin has made ready. A difference of what is a difference itself closes nothing. */
void jp_epochs_join_end(struct jp_epochs *to, const struct jp_epochs *from, bool subtracts, bool plain,
                        struct jp_epochs_join *join);

void jp_epochs_join_release(struct jp_epochs_join *join);

/* Takes out all that was added since the epochs were `was`, a copy of the struct. */
void jp_epochs_cut(struct jp_epochs *epochs, const struct jp_epochs *was);

void jp_epochs_release(struct jp_epochs *epochs);
