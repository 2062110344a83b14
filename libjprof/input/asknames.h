/* Names of places in an object file, from that file and all that belongs to it: opens them by the rules of debugfile.h
 * and splitfile.h, has the names found by findnames.h, and opens what that wants. */
#pragma once

#include "input/debugfile.h"
#include "input/namereply.h"
#include "input/splitfile.h"

/* What is asked: see jp_name_request. */
struct jp_name_ask {
	const uint64_t *offsets;
	size_t count;
	bool image, allocator, functions;
	bool (*is_wrapper)(const void *wrappers, const char *name);
	const void *wrappers;
};

/* Packs that are open for a question. */
struct jp_open_packs {
	struct jp_open_file files[jp_most_packs];
	size_t count;
};

/* A question that is answered in parts. The caller sets the first three; the rest is zero. */
struct jp_asking {
	struct jp_objfile *file;
	const struct jp_debug_where *where;
	struct jp_name_ask ask;

	struct jp_namereply reply; /* of the last part; the i-th of its places is offset number jp_asking_offset() */

	struct jp_debugfiles found; /* after the first part */
	struct jp_split_files splits;
	struct jp_open_packs packs;
	bool begun;
	uint64_t *offsets; /* of this part: those asked->numbers; NULL: all */
	uint32_t *asked, *rest;
	size_t count, rest_count;
	unsigned rounds; /* questions so far */
	uint64_t *lost;  /* units that could not be completed */
	size_t lost_count, lost_cap;
	char first_loss[512];
	char trouble[1024]; /* why a question was not answered, of the first such: "" where each was. What could not be
	                     * read is not used: debug information first, then the file */
	bool nameless;      /* the file alone gave no answer either */
};

/* The next part: 1 and a->reply, 0 after the last, -1 when memory is short. A place that is pending comes again. Who
 * finds names is asked once more for what a file was given for; who goes on to want it has not answered. What
 * cannot be used is remarked on the file. */
int jp_asking_next(struct jp_asking *asking) jp_must_check;

/* Which of ask.offsets the i-th place of the reply is. */
size_t jp_asking_offset(const struct jp_asking *asking, size_t i);

/* Closes the files, and releases the reply. */
void jp_asking_release(struct jp_asking *asking);
