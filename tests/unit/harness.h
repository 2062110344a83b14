/* What the unit tests share: cmocka with its headers, numbers that are nearly equal, dumps and
 * profiles made from text. */
#pragma once

#include "base/macros.h"
#include "jprof.h"
#include "testing.h"

/* Equal but for the rounding of a few operations on doubles. */
#define assert_near(is, should) assert_near_at((is), (should), __FILE__, __LINE__)
void assert_near_at(double is, double should, const char *file, int line);

#define assert_contains(text, part) assert_contains_at((text), (part), __FILE__, __LINE__)
void assert_contains_at(const char *text, const char *part, const char *file, int line);

/* Prints what is wrong with one case of a table and returns 1, to be counted: a table is gone
 * through to its end. */
int complain(const char *fmt, ...) jp_printf(1, 2);

/* A line of text that a terminal shows as it is. */
void assert_is_message(const char *text);

/* All of a file, followed by a NUL; fails the test if it cannot be read. For free(). */
char *read_whole(const char *path, size_t *len);

/* A jprof_write_fn whose context is a struct jp_strbuf: it adds what is written. */
int append_to_strbuf(void *strbuf, const void *data, size_t len);

/* The next of a series of numbers that look like chance, and are always the same. */
uint64_t next_draw(uint64_t *state);

/* A dump that must be sound or sound in part; a profile of one, by the dump's own maps. */
struct jprof_dump *dump_of(const char *text);
struct jprof_profile *profile_of(const char *text);

/* What an address is called: the names of the functions there, innermost first, ended by NULL.
 * All but the last are inlined. Each stands in `file` (NULL: not known) at `line`. */
struct known {
	uint64_t address;
	enum jprof_source source;
	const char *file;
	unsigned line;
	const char *names[4];
};

/* Names all locations without any object file; an address that is not in the table becomes
 * "0xADDRESS" of source NONE. The profile counts as symbolized. */
void name_locations(struct jprof_profile *profile, const struct known *table, size_t count);

/* What a report is asked for; sizes are filled in. NULL: nothing. */
struct asked {
	struct jprof_view_opts view;
	struct jprof_report_opts report;
};

/* A view that must be made, a table in the order asked for, and the whole text report. For their own free, and free().
 */
struct jprof_view *view_of(const struct jprof_profile *profile, const struct asked *asked);
struct jprof_table *ordered(const struct jprof_view *view, const struct asked *asked);
char *text_of(const struct jprof_profile *profile, const struct asked *asked);
