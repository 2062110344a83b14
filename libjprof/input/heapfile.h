/* What a dump in text holds, as it stands there: stacks of addresses and their raw counters. heap_v2,
 * gperftools' heap profiles and symbolized files all become this. */
#ifndef JP_INPUT_HEAPFILE_H
#define JP_INPUT_HEAPFILE_H

#include <time.h>

#include "base/intern.h"
#include "base/reader.h"
#include "base/strbuf.h"
#include "jprof.h"
#include "statistics/scaling.h"

/* A stack: indices of dump->addresses, innermost frame first, in dump->frames. */
struct jp_stack {
	size_t first;
	uint32_t depth;
};

/* One counter line: of all threads together, or of one. */
struct jp_record {
	uint32_t stack;
	uint32_t thread; /* index of dump->threads */
	uint64_t count[JPROF_COUNTERS];
};

struct jp_records {
	struct jp_record *items;
	size_t count;
	size_t cap;
};

struct jp_thread {
	struct jprof_dump_thread pub;
	uint32_t name; /* id in dump->names */
};

/* What a symbolized file calls an address: its functions, separated by --, outermost first. */
struct jp_given_name {
	uint64_t address; /* a lookup address */
	uint32_t text;    /* id in dump->names */
};

struct jprof_dump {
	struct jprof_dump_info info;
	enum jp_scaling scaling;
	char *name;             /* for messages */
	time_t mtime;           /* of the file; 0: not known */
	struct jp_intern names; /* of threads, and of functions in symbolized files */
	struct jp_intern address_ids;
	uint64_t *addresses; /* lookup addresses: return addresses less one, see heapfile.c */
	size_t address_cap;
	uint32_t *frames;
	size_t frame_count, frame_cap;
	struct jp_stack *stacks;
	size_t stack_cap;
	struct jp_records totals;     /* the t* lines, in order */
	struct jp_records per_thread; /* the tN lines, in order */
	struct jp_thread *threads;
	size_t thread_cap;
	struct jp_given_name *given; /* by ascending address */
	size_t given_count, given_cap;
	struct jprof_maps *maps;
	struct jprof_error *warnings;
	size_t warning_count, warning_cap;
};

/* ---- reading, for one .c for each format ---- */

/* A parse under way. */
struct jp_parse {
	struct jprof_dump *dump;
	struct jp_reader reader;
	struct jprof_error *err;
	struct jprof_error fault;  /* where the sound part ends; code 0: nowhere yet */
	struct jprof_error damage; /* of the compressed data around it; code 0: none */
	uint64_t *stack;           /* the stack whose counters are still to come; released by jp_dump_parse */
	size_t depth, stack_cap;
	bool open_stack; /* there is one */
	bool maps_next;  /* the line before the maps was read */
};

/* Each reads from p->reader on to the end. Faults after at least one sound stack become a warning. */
int jp_parse_heap(struct jp_parse *p);  /* heapfile.c: heap_v2 */
int jp_parse_gperf(struct jp_parse *p); /* gperf.c: gperftools' heap and growth profiles, in text */
int jp_parse_raw(struct jp_parse *p);   /* rawfile.c: symbolized, around one of the above */

/* Notes where the sound part ends, and returns JPROF_E_FORMAT. */
int jp_parse_fault(struct jp_parse *p, const char *fmt, ...) jp_printf(2, 3);

/* A warning about the line last read, or about anything. 0 or JPROF_E_NOMEM. */
int jp_parse_warn(struct jp_parse *p, const char *fmt, ...) jp_printf(2, 3);
int jp_dump_warn(struct jprof_dump *dump, const struct jprof_error *what);

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

/* As jprof_dump_parse; `damage` (may be NULL) says what was wrong with the compressed data around it. */
int jp_dump_parse(const void *data, size_t len, const char *name, const struct jprof_error *damage,
                  struct jprof_dump **dump, struct jprof_error *err);

#endif
