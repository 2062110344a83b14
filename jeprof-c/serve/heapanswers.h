/* Profiles, numbers and a page for who asks over HTTP. A child has the processes dump, finds the names and writes what
 * is asked for, so that the server itself answers at any time, holds no profile in its memory, and goes on whatever
 * becomes of the child. Dumps are made one at a time, and so that at most half of the time is spent on them: until the
 * next may be made, the last one is the answer, and what was not made of it yet is made then. */
#pragma once

#include <sys/types.h>

#include "serve/heapmake.h"
#include "serve/httpserver.h"

struct heap_answers {
	const struct serve_options *options;
	sigset_t signals; /* that the child has blocked: those of before */
	pid_t child;      /* 0: none */
	struct heap_making {
		int files[SERVE_KINDS], said; /* said: what it says on standard error */
		enum serve_kind wanted;
		bool fresh, gc; /* fresh: the processes dump */
		int64_t begun;  /* by jp_clock_ms */
	} making;
	bool made, good, gc;      /* of the last dump: it was tried, is there, of collected garbage */
	int first;                /* the first snapshot of these processes; -1 */
	int files[SERVE_KINDS];   /* what was made of the last dump, in memory; -1: not yet */
	bool cannot[SERVE_KINDS]; /* what cannot be made of it */
	int64_t ended, next;      /* when, and when the next may begin */
	char said[4096];          /* what it said, as it stood there */
	char why[1000];           /* the same in words for an answer */
};

/* No file is open. */
void heap_answers_begin(struct heap_answers *answers, const struct serve_options *options, const sigset_t *signals);

/* For http_server_new; its context is the answers. */
bool heap_answer(void *context, const struct http_request *request, bool waited, struct http_answer *answer);

/* Takes over what a child has made that has ended. True: there was one, and who waits is to be answered. */
bool heap_answers_reap(struct heap_answers *answers);

/* Ends what is under way. */
void heap_answers_end(struct heap_answers *answers);
