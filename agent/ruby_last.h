/* What was taken down of a thread's last Ruby stack. While Ruby has freed and moved no object since, a frame at the
 * same place is the same one, and its texts need not be compared again. Under the lock of stacktree.h. */
#ifndef AGENT_RUBY_LAST_H
#define AGENT_RUBY_LAST_H

#include <pthread.h>

#include "ruby_api.h"

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
	size_t changes[3];   /* what Ruby said of its objects */
	int count;           /* frames of the whole stack */
	int used;            /* of `frames`, which begin with the outermost */
	struct ruby_last_frame frames[RUBY_KEPT];
};

/* On a Ruby thread, in a job; raises where this Ruby does not say how many objects it freed. */
void ruby_last_learn(void);

/* This thread's, for a stack of `count` frames: `used` are of the same place in both. */
struct ruby_last *ruby_last_here(int count);

#endif
