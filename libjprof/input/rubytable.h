/* The table beside a dump: what the numbers stand for that the agent added to its stacks. docs/internals/ruby-table.md
 * has the format. Nothing of it is trusted: what is no table is refused whole. */
#pragma once

#include "base/checksum.h"
#include "base/intern.h"
#include "jprof.h"

/* What a frame is. */
enum jp_rubyword {
	JP_RUBY_FRAME,
	/* markers, which stand instead of one */
	JP_RUBY_AFTER_GC,
	JP_RUBY_JOB,
	JP_RUBY_CUT,
	JP_RUBY_FULL,
	JP_RUBY_BUSY,
	JP_RUBY_IN_GC,
	JP_RUBY_OTHER, /* of a later agent; `method` is its word */
};

struct jp_rubyframe {
	enum jp_rubyword word;
	uint32_t parent; /* what called it: its place in frames, before this one; JP_NONE: the outermost */
	uint32_t depth;  /* of the stack whose innermost it is: 1 or more */
	uint32_t line;   /* 0: not known; of a marker its count */
	uint32_t path;   /* JP_NONE: a C method's */
	uint32_t owner;  /* class, likewise */
	uint32_t method; /* ids in texts */
	char separator;  /* # or ., or - without a class */
};

/* Times are by the agent's clock, in milliseconds since 1970. */
struct jp_rubyepoch {
	uint64_t number;
	uint64_t begin, end; /* end 0: it runs */
};

/* What a tag's text is. */
enum jp_tag_kind { JP_TAG_PLAIN, JP_TAG_ROUTE, JP_TAG_JOB };

struct jp_rubytag {
	enum jp_tag_kind kind;
	uint32_t text; /* id in texts; JP_NONE: no such tag */
};

/* A sampled object that lives in a slot of Ruby's own heap. */
struct jp_rubyslot {
	uint64_t address;
	uint32_t frame;      /* its place in frames; JP_NONE: it has no Ruby stack */
	uint32_t tag, epoch; /* their numbers; 0: none */
	uint32_t class;      /* id in texts; JP_NONE: not known */
	uint32_t slot, size; /* bytes of its slot, and those that it was counted for; not 0 */
	uint32_t type;       /* of the object: below 32 */
	uint32_t moved;      /* bytes of data that Ruby's collector may have moved to malloc's memory; 0: none */
};

struct jp_rubytable {
	struct jp_checksum dump;                  /* that it belongs to */
	uint64_t start, nodes, tags, epochs, end; /* of the mapping, and of the numbers of each kind */
	uint64_t pid, start_ticks, before, after; /* before, after: 0 without epochs */
	uint64_t time;                            /* when the dump was made; 0: not known */
	uint64_t began, first,
	    forks;        /* when the process began, its first epoch, and forks before it; first 0: not known */
	bool stacks;      /* Ruby stacks were taken; else `why` not */
	bool earlier;     /* it belongs to an earlier dump of the same process than the one that is read */
	bool interpreter; /* it is known where native parts end */
	char *boot, *why; /* "" if not known */
	char *directory;  /* the process's working directory, or NULL */
	struct jp_rubyframe *frames;
	size_t frame_count, frame_cap;
	uint32_t *places; /* by node: place in frames, or JP_NONE */
	size_t node_count, place_cap;
	struct jp_intern texts;
	struct jp_rubyepoch *spans; /* of the epochs that the dump has, by ascending number */
	size_t span_count, span_cap;
	uint32_t slot_rate; /* bytes between samples of objects; 0: the table says nothing about them */
	struct jp_rubyslot *slots;
	size_t slot_count, slot_cap;
	struct jp_rubytag *marks; /* tags, by their number */
	size_t mark_count, mark_cap;
};

enum {
	jp_rubytable_limit = 256 << 20, /* bytes of a table at most */
	jp_rubytable_deepest = 256,     /* frames of a stack at most: the agent keeps 200 and a marker */
};

/* JPROF_E_FORMAT for what is no table, is cut, or is damaged. `name` is used in errors. */
int jp_rubytable_parse(const void *data, size_t len, const char *name, struct jp_rubytable **table,
                       struct jprof_error *err);

/* The innermost frame that the number of a stack stands for: its place in frames. JP_NONE: it is no node's. */
uint32_t jp_rubytable_frame(const struct jp_rubytable *table, uint64_t number);

/* The epoch of this number, with its times; NULL: the table does not list it. */
const struct jp_rubyepoch *jp_rubytable_epoch(const struct jp_rubytable *table, uint32_t number);

/* The tag that the number of a stack stands for; NULL: it is no tag's, or its text is not known. */
const struct jp_rubytag *jp_rubytable_tag(const struct jp_rubytable *table, uint64_t number);

/* For how many bytes of slots the sample stands. */
double jp_rubytable_slot_bytes(const struct jp_rubytable *table, const struct jp_rubyslot *slot);

/* Of all samples, with the variance of the sum. */
struct jp_rubyslot_sum {
	double bytes, variance;
};
struct jp_rubyslot_sum jp_rubytable_slot_sum(const struct jp_rubytable *table);

/* "" for JP_NONE. */
const char *jp_rubytable_text(const struct jp_rubytable *table, uint32_t id);

void jp_rubytable_free(struct jp_rubytable *table);
