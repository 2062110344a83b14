/* What a dump in text holds, as it stands there: stacks of addresses and their raw counters. heap_v2,
 * gperftools' heap profiles and symbolized files all become this. */
#pragma once

#include <time.h>

#include "base/intern.h"
#include "jprof.h"
#include "statistics/scaling.h"

/* One counter line: of all threads together, or of one. */
struct jp_record {
	uint32_t stack;
	uint32_t thread; /* index of dump->threads */
	uint64_t count[JPROF_COUNTERS];
};

/* Records one after the other, packed: a large dump has as many as lines. */
struct jp_records {
	unsigned char *bytes;
	size_t len, cap;
	uint32_t last; /* the stack of the newest */
};

/* Adds a record; its stack is that of the one before or a newer one. 0, or -1 when memory is short. */
int jp_records_add(struct jp_records *records, const struct jp_record *record);

/* Reads the next record from *at on, which is 0 at first; *record must be that of the last call, or all zero. False
 * after the last. */
bool jp_records_next(const struct jp_records *records, size_t *at, struct jp_record *record);

struct jp_thread {
	struct jprof_dump_thread pub;
	uint32_t name; /* id in dump->names */
};

/* What a symbolized file calls an address: its functions, separated by --, outermost first. */
struct jp_given_name {
	uint64_t address;     /* a lookup address */
	uint32_t text;        /* id in dump->names */
	uint32_t frame_first; /* the same in full, in dump->given_frames; none: only the text is known */
	uint32_t frame_count;
	bool wrapper; /* a nameless function that an allocation wrapper calls */
};

/* A function of these: ids in dump->names; file JP_NONE: not known. */
struct jp_given_function {
	uint32_t system, name, brief, file;
};

struct jp_given_frame {
	uint32_t function;
	uint32_t line; /* 0: not known */
};

/* How a line begins that says what is known of a file: model/fileproof.h has the rest. */
#define JP_FILEPROOF_BEGIN "#file="

/* What a symbolized file says of the allocator of the dump in it. */
struct jp_given_allocator {
	bool known;
	bool library;          /* it is a library of its own, and no part of a larger file */
	uint32_t path, prefix; /* ids in dump->names; JP_NONE: there is none; not known */
};

struct jp_rubytable;

struct jprof_dump {
	struct jprof_dump_info info;
	enum jp_scaling scaling;
	char *name;             /* for messages */
	time_t mtime;           /* of the file; 0: not known */
	struct jp_intern names; /* of threads, and of functions in symbolized files */
	struct jp_index address_ids;
	uint64_t *addresses; /* by id: lookup addresses: return addresses less one, see heapfile.h */
	size_t address_cap;
	uint32_t *frames; /* of all stacks, one after the other: indices of addresses, innermost first */
	size_t frame_count, frame_cap;
	uint32_t *depths; /* by stack: how many of the frames are its own */
	size_t depth_cap;
	struct jp_records totals;     /* the t* lines, in order */
	struct jp_records per_thread; /* the tN lines, in order */
	struct jp_thread *threads;
	size_t thread_cap;
	struct jp_given_name *given; /* by ascending address */
	size_t given_count, given_cap;
	struct jp_given_function *given_functions;
	size_t given_function_count, given_function_cap;
	struct jp_given_frame *given_frames; /* outermost first */
	size_t given_frame_count, given_frame_cap;
	uint32_t *given_files; /* what is known of files, as model/fileproof.h has it: ids in dump->names */
	size_t given_file_count, given_file_cap;
	bool symbolized; /* it has names of its own, and files are not asked for any */
	struct jp_given_allocator allocator;
	struct jprof_maps *maps;
	struct jp_rubytable *table;     /* of this very dump; NULL: none */
	struct jprof_error table_error; /* why one that was there is not used; code 0: there was none */
	struct jprof_error *warnings;
	size_t warning_count, warning_cap;
	bool taken; /* a profile has the stacks, addresses and records: here are none any more */
};

/* Gives back room that the arrays have beyond what is in them. */
void jp_dump_trim(struct jprof_dump *dump);

/* Frees the addresses, and all that stacks are made of. */
void jp_dump_drop_addresses(struct jprof_dump *dump);
void jp_dump_drop_stacks(struct jprof_dump *dump);

/* Adds a warning. 0 or JPROF_E_NOMEM. */
int jp_dump_warn(struct jprof_dump *dump, const struct jprof_error *what);
