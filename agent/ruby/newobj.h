/* Stands before the functions by which Ruby and its extensions allocate objects: they are called by name, and the agent
 * is preloaded. Each call takes its bytes off a counter of its thread and goes on to Ruby's function; nothing else of
 * Ruby or of the system is on that path. Where the counter is used up, a sampler is asked.
 *
 * The names are exported under a version, JPROF_AGENT, that nobody asks for: the loader gives them to who is linked
 * with a name alone, and dlsym() does not find them, so that a Ruby that lacks one lacks it still. */
#pragma once

#include <stdbool.h>

#include "ruby/ruby_api.h"

/* What differs from one Ruby to another. */
struct newobj_version {
	char version[8];  /* as RUBY_VERSION begins */
	unsigned size_at; /* the place of the size among the arguments of rb_wb_protected_newobj_of: 3, 4 or 5. Of
	                   * rb_wb_unprotected_newobj_of it is 3, but 4 where this is 5 */
	bool counts_imemo, counts_zalloc, counts_typed_zalloc; /* else they call one that counts */
	bool finds_plain;  /* plain objects are allocated by a function that has no name */
	bool has_sizes;    /* slots are of several sizes */
	bool moves_data;   /* a collection moves data of objects to malloc's memory: slotdata.h */
	bool is_marked;    /* an object that is a sample has a mark: its id would be a field, and it has none yet */
	unsigned page_log; /* pages of the heap are aligned to so many bits */
};

/* Who is asked where a counter is used up. */
struct newobj_sampler {
	long (*idle)(void);                    /* how many bytes may pass unseen; 0: samples are taken */
	long (*draw)(void);                    /* how many bytes there are to the next sample */
	void (*take)(VALUE object, long size); /* this object, counted for so many bytes, is one */
};

/* In the constructor of a process with a Ruby: finds Ruby's functions. */
void newobj_load(void);

/* Likewise, if samples are to be taken. */
void newobj_ask(const struct newobj_sampler *sampler);

/* Counts from now on. Returns what is known of this Ruby, NULL: nothing, and nothing is counted. */
const struct newobj_version *newobj_start(void);

/* On this thread: what the agent itself allocates in a job is nobody's. */
void newobj_pause(bool paused);
