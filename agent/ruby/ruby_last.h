/* What was taken down of a thread's last Ruby stack. While no collection began since, and none was marking then, Ruby
 * has freed and moved nothing that was in use then: a frame at the same place is the same one, and its texts need not
 * be compared again. Under the lock of stacktree.h. */
#pragma once

#include <pthread.h>
#include <stdbool.h>

#include "ruby/ruby_api.h"

/* A stack keeps so many frames at either end. */
enum { RUBY_INNER = 160, RUBY_OUTER = 40, RUBY_KEPT = RUBY_INNER + RUBY_OUTER };

struct ruby_last_frame {
	VALUE frame;
	int line;
	uint32_t node;
};

struct ruby_last {
	pthread_t thread;
	uint32_t generation; /* of the tree */
	size_t changes[3];   /* what Ruby said of its collections */
	bool was_marking;    /* a step at a time: what is in use now may be found to be none in the end */
	bool in_doubt;       /* collected since: what its frames are has to be compared */
	int count;           /* frames of the whole stack */
	int used;            /* of `frames`, which begin with the outermost */
	struct ruby_last_frame frames[RUBY_KEPT];
};

/* On a Ruby thread, in a job; raises where this Ruby does not say how often it collected. */
void ruby_last_learn(void);

/* This thread's, for a stack of `count` frames: `used` are of the same place in both, if nothing is in doubt. */
struct ruby_last *ruby_last_here(int count);
