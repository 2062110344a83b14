/* What a child makes for who asks over HTTP: a snapshot of the processes, and of that profiles, numbers and a page. */
#pragma once

#include "serve/serveopts.h"

/* SERVE_BUNDLE: the snapshot itself, for the others. SERVE_INUSE, SERVE_ALLOCS: profile.proto, which shows first what
 * is in use, or what was ever allocated. SERVE_METRICS: numbers for Prometheus. SERVE_PAGE: the page of --html. */
enum serve_kind { SERVE_BUNDLE, SERVE_INUSE, SERVE_ALLOCS, SERVE_METRICS, SERVE_PAGE, SERVE_KINDS };

struct heap_work {
	bool gc;                /* Ruby collects its garbage before the snapshot */
	int first, last;        /* snapshots in files: the first of all, and that to make the rest of; -1: none */
	int files[SERVE_KINDS]; /* what is written, by enum serve_kind; -1: it is not wanted */
};

/* SERVE_OTHERS: all was made, and none of the processes of the first snapshot is left. */
enum serve_made { SERVE_MADE, SERVE_FAILED, SERVE_OTHERS };

/* Writes the files. Without `last` the processes dump first. SERVE_FAILED after having said why. */
enum serve_made heap_make(const struct serve_options *options, const struct heap_work *work);
