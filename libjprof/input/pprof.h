/* profile.proto, the format of pprof, as it stands in the file: messages with ids and string indices that
 * nobody has looked up yet. The format: github.com/google/pprof/blob/main/proto/profile.proto. */
#pragma once

#include "base/reader.h"
#include "jprof.h"

/* Numbers named _s are indices of pprof->strings; 0 is "". */
struct jp_pprof_type {
	uint64_t type_s, unit_s;
};

struct jp_pprof_mapping {
	uint64_t id, start, limit, offset, file_s, build_id_s;
};

struct jp_pprof_function {
	uint64_t id, name_s, system_s, file_s;
};

struct jp_pprof_line {
	uint64_t function; /* its id */
	int64_t line;
};

struct jp_pprof_location {
	uint64_t id, mapping, address;
	size_t line_first, line_count; /* innermost first */
};

struct jp_pprof_label {
	uint64_t key_s, str_s, unit_s;
	int64_t num;
};

struct jp_pprof_sample {
	size_t id_first, id_count;       /* of locations, innermost first */
	size_t value_first, value_count; /* one for each sample type */
	size_t label_first, label_count;
};

#define JP_LIST(type)                                                                                                  \
	struct {                                                                                                       \
		type *items;                                                                                           \
		size_t count, cap;                                                                                     \
	}

struct jp_pprof {
	JP_LIST(struct jp_span) strings; /* point into the file */
	JP_LIST(struct jp_pprof_type) types;
	JP_LIST(struct jp_pprof_mapping) mappings;
	JP_LIST(struct jp_pprof_function) functions;
	JP_LIST(struct jp_pprof_location) locations;
	JP_LIST(struct jp_pprof_line) lines;
	JP_LIST(struct jp_pprof_sample) samples;
	JP_LIST(uint64_t) ids;
	JP_LIST(int64_t) values;
	JP_LIST(struct jp_pprof_label) labels;
	JP_LIST(uint64_t) comments; /* indices of strings */
	struct jp_pprof_type period_type;
	int64_t period, time_nanos;
	bool uneven; /* the last sample has no values, or others than the first: those after it are not read */
	bool cut;    /* the message is faulty at byte `cut_at`; what stood before it is here */
	size_t cut_at;
};

/* Whether these first bytes of a file are those of a profile.proto. */
bool jp_pprof_probe(const void *data, size_t len);

/* Reads what is sound of a message; unknown fields are skipped. `data` must live as long as *pprof,
 * which jp_pprof_release empties, after a failure too. 0, or -1 when memory is short. */
int jp_pprof_parse(const void *data, size_t len, struct jp_pprof *pprof);

/* A string; false if there is none of that index. */
bool jp_pprof_string(const struct jp_pprof *pprof, uint64_t index, struct jp_span *string);

void jp_pprof_release(struct jp_pprof *pprof);
