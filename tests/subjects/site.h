/* A subject tells the truth about itself. At each site it records the address that a call returns
 * to and the functions, file and line that stand there; report.c then writes a heap dump, which
 * jprof is given, and the list of the sites, which jprof's answer must equal. */
#pragma once

/* What is known of the function at a site. */
#define EXPORTED 1 /* its name is in .dynsym */
#define NAMELESS 2 /* no symbol holds it, in no dress */
#define NO_FDE 4   /* .eh_frame does not describe it */
#define CLONE 8    /* the compiler may have moved the site into a clone: the function's start is not known */

#ifndef __ASSEMBLER__

#ifdef __cplusplus
extern "C" {
#endif

struct site {
	const char *function;
	const char *file;
	int line;
	const struct site *outer; /* into which call this one is inlined; NULL: into none */
	const void *start;        /* of the function, when it is not inlined */
	int flags;
};

/* Notes the caller's return address. */
void record(const struct site *site);

/* Notes another address, as if a call returned there. */
void record_at(const struct site *site, const void *address);

/* The first, without returning: goes on after subject_run. */
__attribute__((noreturn)) void record_last(const struct site *site);

/* Visits all sites of a subject. */
void subject_run(void);

#ifdef __cplusplus
}
#endif

#define NOINLINE __attribute__((noinline))
#define ALWAYS inline __attribute__((always_inline))

/* Calls `function` with the site of this very line; the call is no tail call. */
#define CALL_AS(name, function, ...)                                                                                   \
	do {                                                                                                           \
		const struct site here = { name, __FILE__, __LINE__, __VA_ARGS__ };                                    \
		function(&here);                                                                                       \
		__asm__ volatile("" ::: "memory");                                                                     \
	} while (0)

/* In a function of its own, which is `self`; in one that is inlined at the site `outer`. */
#define CALL(function, self, flags) CALL_AS(__func__, function, 0, (const void *)(self), flags)
#define CALL_INLINED(function, outer) CALL_AS(__func__, function, outer, 0, 0)
#define HERE(self, flags) CALL(record, self, flags)
#define HERE_INLINED(outer) CALL_INLINED(record, outer)

#endif
