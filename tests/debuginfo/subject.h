/* A program that knows where it was: each site notes the address that a call returns to and the
 * functions, innermost first, whose code stands there. */
#pragma once

struct site {
	const char *function;
	const char *file;
	int line;
	const struct site *outer; /* the call that this function is inlined at; NULL: it is not inlined */
};

/* Notes the site and the caller's return address. */
void note(const struct site *site);

/* Sites of the other source file. */
void part_run(void);

/* Calls `function` with the site of this very line; no tail call. */
#define AT(function, outer)                                                                                            \
	do {                                                                                                           \
		const struct site here = { __func__, __FILE__, __LINE__, outer };                                      \
		function(&here);                                                                                       \
		__asm__ volatile("" ::: "memory");                                                                     \
	} while (0)

#define NOINLINE __attribute__((noinline))
#define ALWAYS static inline __attribute__((always_inline))

/* Stands in both source files, so that dwz finds something to share. */
struct shared_by_all {
	struct shared_by_all *next;
	union {
		struct {
			const char *first_member_with_a_long_name;
			unsigned long second_member_with_a_long_name;
			int third_member_with_a_long_name;
		} as_struct;
		char as_bytes[64];
	} value;
	int (*member_function)(struct shared_by_all *self, const char *word, unsigned long number);
};

ALWAYS void inlined_everywhere(const struct site *outer)
{
	AT(note, outer);
}
