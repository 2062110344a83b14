/* Bytes, times and counts in words. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "base/strbuf.h"

/* The unit in which all numbers of a report are. */
struct measure {
	double bytes;
	const char *name;
};

/* Words by value: measure_number(m, bytes).text may be an argument of the call that writes it. */
struct measured {
	char text[64];
};

/* That in which the largest number has two to four digits before the point, from KB to GB. */
struct measure measure_for(double largest);

/* The same unit for a number that is not too small for it. */
struct measure measure_fit(struct measure measure, double bytes);

/* Whether so many seconds say a pace: less than a minute does not; NAN is fine. */
bool measure_has_pace(double seconds);

/* "27 MB an hour", "1.2 MB a minute": of what grew in so many seconds, which have a pace. */
struct measured measure_pace(double bytes, double seconds);

/* "412", "12.4": without the unit; with a sign where it is wanted. Of up to 100 one digit after the point. */
struct measured measure_number(struct measure measure, double bytes);
struct measured measure_change(struct measure measure, double bytes);

/* Likewise with the unit, of which a smaller one is taken for what is too small: "12.4 MB", "+12.4 MB". */
struct measured measure_in(struct measure measure, double bytes);
struct measured measure_grown(struct measure measure, double bytes);

/* "2 h 39 min", "20 minutes", "11.7 hours". */
struct measured time_left(double seconds);
struct measured time_span(double seconds);

/* "108,000": rounded to three digits. */
struct measured about_count(double count);

/* Adds "27 bytes", or in the unit "412 KB", "12.4 MB". */
void measure_add(struct jp_strbuf *text, struct measure measure, double bytes);
