/* What the formats of dumps in text share: their stacks, counters and ends, and what is done about faults. */
#pragma once

#include "base/macros.h"
#include "base/reader.h"
#include "input/dumpdata.h"

/* A parse under way. */
struct jp_parse {
	struct jprof_dump *dump;
	struct jp_reader reader;
	struct jprof_error *err;
	struct jprof_error fault;   /* where the sound part ends; code 0: nowhere yet */
	struct jprof_error *damage; /* of the compressed data around it, once it is come to; code 0: none */
	uint64_t *stack;            /* the stack whose counters are still to come; released by jp_dump_read */
	size_t depth, stack_cap;
	bool open_stack; /* there is one */
	bool maps_next;  /* the line before the maps was read */
};

/* Notes where the sound part ends, and returns JPROF_E_FORMAT. */
int jp_parse_fault(struct jp_parse *p, const char *fmt, ...) jp_printf(2, 3);

/* A warning about the line last read. 0 or JPROF_E_NOMEM. */
int jp_parse_warn(struct jp_parse *p, const char *fmt, ...) jp_printf(2, 3);

/* Reads a stack, "0xA0 0xA1 ...", that fills the rest of a line. It waits for its counters. */
int jp_parse_stack(struct jp_parse *p, struct jp_span line);

/* The stack that was read has counters: it becomes part of the dump. */
int jp_parse_commit(struct jp_parse *p);

/* Reads "n: s [an: as]" off the front of a line. False if that is not what stands there. A counter
 * above 2^63-1 sets *too_big: it comes from a difference that went below zero. */
bool jp_span_counters(struct jp_span *line, uint64_t count[JPROF_COUNTERS], bool *too_big);

/* Adds a record with these counters for the newest stack; `thread` JP_NONE: of all together. */
int jp_parse_record(struct jp_parse *p, uint32_t thread, const uint64_t count[JPROF_COUNTERS]);

/* After a fault: reads on to the line that begins the maps, if there is one. */
void jp_parse_find_maps(struct jp_parse *p, bool (*is_maps_line)(struct jp_span line));

/* Reads the maps if they are next; then the warning that says where the sound part ends, or the error if
 * nothing is sound. */
int jp_parse_end(struct jp_parse *p);
