/* The parts of the memory of processes that are counted, at one moment or at several that are compared:
 * docs/internals/parts.md has what each is. */
#pragma once

#include "jprof.h"

/* What a profile was made of, or what was subtracted from it. */
struct jp_moment {
	const struct jprof_profile *profile;
	bool base;
};

/* Moments that are compared, the earliest first. What a part needs beside its own figures counts at all of them or at
 * none, so that a part grows only by what it is. */
struct jp_moments {
	const struct jp_moment *at;
	size_t count;
	bool by_kernel;   /* what is in memory of the allocator's mappings is known at all: jp_moments_of */
	double untouched; /* then: bytes of each process that no moment touched, and jemalloc counts as in use */
};

struct jp_moments jp_moments_of(const struct jp_moment *at, size_t count);

/* The bytes of a part at the i-th moment; NAN: not known. JPROF_PART_NOT_EXPLAINED and what only rows of an explanation
 * have is not known here. */
double jp_part_bytes(const struct jp_moments *moments, size_t i, enum jprof_part part);
