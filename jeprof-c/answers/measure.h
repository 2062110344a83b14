/* Bytes, times and counts in words. */
#ifndef JEPROF_MEASURE_H
#define JEPROF_MEASURE_H

#include <stdbool.h>
#include <stdio.h>

#include "base/strbuf.h"

/* The unit in which all numbers of a report are. */
struct measure {
	double bytes;
	const char *name;
};

enum { measure_most = 48 };

/* That in which the largest number has two to four digits before the point, from KB to GB. */
struct measure measure_for(double largest);

/* The same unit for a number that is not too small for it. */
struct measure measure_fit(struct measure measure, double bytes);

/* Whether so many seconds say a pace: less than a minute does not; NAN is fine. */
bool measure_has_pace(double seconds);

/* "27 MB an hour", "1.2 MB a minute": of what grew in so many seconds, which have a pace. */
const char *measure_pace(double bytes, double seconds, char text[measure_most]);

/* "412", "12.4": without the unit; with a sign where it is wanted. Of up to 100 one digit after the point. */
const char *measure_number(struct measure measure, double bytes, char text[measure_most]);
const char *measure_change(struct measure measure, double bytes, char text[measure_most]);

/* "2 h 39 min", "20 minutes", "11.7 hours". */
const char *time_left(double seconds, char text[measure_most]);
const char *time_span(double seconds, char text[measure_most]);

/* "108,000": rounded to three digits. */
const char *about_count(double count, char text[measure_most]);

/* Adds "27 bytes", or in the unit "412 KB", "12.4 MB". */
void measure_add(struct jp_strbuf *text, struct measure measure, double bytes);

#endif
