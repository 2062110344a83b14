/* Proves what a jemalloc can do by running it once, in a program that does nothing. */
#pragma once

#include "run/program.h"

enum proved {
	PROVED_PROFILES,    /* jemalloc, with config.prof */
	PROVED_NO_PROFILES, /* jemalloc, built without */
	PROVED_NO_JEMALLOC, /* loads, yet reads no MALLOC_CONF */
	PROVED_BROKEN,      /* the loader or jemalloc ended the program */
	PROVED_NOTHING,     /* no program here that it could be loaded into */
};

struct proof {
	enum proved proved;
	char version[96]; /* jemalloc's; "" not known */
	char *said;       /* lines on standard error before and beside the statistics: complaints; owned */
	char *options;    /* lines "opt.NAME: VALUE" of jemalloc's statistics; owned, "" if it wrote none */
};

/* Loads the library at `so` into a program of the machine and C library of `like`: true, jprof itself or, where it
 * is an interpreter known to be harmless so, `like` with --version. `conf` is the MALLOC_CONF to try, or NULL; what
 * in it would write dumps is switched off. False when memory is short or no process can be started. */
bool prove(struct proof *proof, const char *so, const struct program *like, const char *conf);

/* The value of opt.NAME, cut to size, without quotes; false if jemalloc did not tell. */
bool proof_option(const struct proof *proof, const char *name, char *value, size_t size);

void proof_free(struct proof *proof);
