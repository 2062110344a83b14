/* What is asked when names of places in an object file are to be found: open files and offsets, nothing else. Whoever
 * asks has opened the files by its own rules; who answers (findnames.h) opens none. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/index.h"
#include "base/strbuf.h"

/* A file that is open for reading, and what remarks call it. */
struct jp_open_file {
	int fd; /* below 0: there is none */
	const char *path;
};

/* In which file debug information (DWARF) is to be read. */
enum jp_dwarf_in { JP_DWARF_NOWHERE, JP_DWARF_IN_OBJECT, JP_DWARF_IN_DEBUG };

enum { jp_split_places = 3, jp_most_packs = 8 };

/* The answer to a jp_reply_want: the file in which the functions of a skeleton unit may stand. */
struct jp_split_answer {
	uint64_t unit; /* both are those of the want */
	const char *name;
	struct jp_open_file files[jp_split_places]; /* in this order; a descriptor may stand in several answers */
	unsigned count;
	const char *why; /* none is given for this reason, or NULL */
};

struct jp_name_request {
	struct jp_open_file object;
	struct jp_open_file debug;  /* its debug file; for its symbols alone, unless `dwarf` says more */
	struct jp_open_file shared; /* what dwz moved out of the debug information */
	enum jp_dwarf_in dwarf;
	struct jp_open_file packs[jp_most_packs]; /* packs of names (namepack.h), for what has no other name */
	size_t pack_count;
	const struct jp_split_answer *splits;
	size_t split_count;
	const uint64_t *offsets; /* ascending, may repeat */
	size_t count;
	bool image;     /* offsets are image addresses, as program headers have them, and not offsets in the file */
	bool functions; /* bounds are those of the function's symbol, if it has one with a size */
	bool allocator; /* whether the file is an allocator is asked, too */
	bool learn;     /* a pack of all functions is asked for (learnnames.h), and nothing else */
	bool decode;    /* the instructions from the first offset to the second are (askdecoded.h), and nothing else */
	/* Whether an exported function of that name hands on what it allocates; NULL: none does. A pure function. */
	bool (*is_wrapper)(const void *wrappers, const char *name);
	const void *wrappers;
};

/* ---- as flat bytes, for another process ---------------------------------------------------------------------------
 *
 * The bytes are flat (flat.h):
 *
 *   header     magic "jprofask", u32 version, u32 flags (1: image, 2: allocator, 4: wrappers are asked for,
 *              8: functions, 16: learn, 32: decode), u32 where the DWARF is, u64 numbers of: packs, splits, offsets
 *   files      u32 number of a descriptor, string: its path; object, debug, shared, packs
 *   splits     u64 unit, strings: name, why; u32 number of files, u32 numbers of three descriptors
 *   offsets    u64 each
 *   text
 *
 * A number of a descriptor that is 0xffffffff: none. The descriptors go beside the bytes, each once. */
struct jp_question {
	struct jp_strbuf bytes;
	int *fds; /* the request's own */
	size_t fd_count, fd_cap;
};

/* Fills *question, which is all zero. 0, or -1 when memory is short. Released either way. */
int jp_question_write(const struct jp_name_request *request, struct jp_question *question) jp_must_check;
void jp_question_release(struct jp_question *question);

/* Reads such bytes from anybody. Strings are those of `data`, arrays of the arena; is_wrapper is left to the caller,
 * who sets it if *wrappers. JPROF_E_FORMAT, JPROF_E_NOMEM. */
int jp_question_read(const void *data, size_t len, const int *fds, size_t fd_count, struct jp_arena *arena,
                     struct jp_name_request *request, bool *wrappers) jp_must_check;
