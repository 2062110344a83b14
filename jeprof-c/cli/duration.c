#include "cli/duration.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"

static const char unit_letters[] = "smhd";
static const double unit_ms[] = { 1e3, 6e4, 3.6e6, 8.64e7 };

bool duration_parse(const char *option, const char *text, uint64_t *milliseconds)
{
	char *end = NULL;
	*milliseconds = 0;
	if (!text)
		return true;
	errno = 0;
	double n = isdigit((unsigned char)*text) ? strtod(text, &end) : 0;
	const char *unit = end && *end ? strchr(unit_letters, tolower((unsigned char)*end)) : NULL;
	double product = unit && !end[1] ? n * unit_ms[unit - unit_letters] : 0;
	if (errno || !(product >= 1 && product < 1e15)) {
		say("--%s=%s: give a time such as 90s, 10m, 1h or 2d", option, text);
		return false;
	}
	*milliseconds = (uint64_t)product;
	return true;
}

const char *duration_words(uint64_t milliseconds, char text[duration_size])
{
	static const char *const names[] = { "second", "minute", "hour", "day" };
	size_t unit = 0;
	while (unit + 1 < sizeof names / sizeof *names && (double)milliseconds >= 2 * unit_ms[unit + 1])
		unit++;
	double shown = (double)milliseconds / unit_ms[unit];
	char number[16];
	snprintf(number, sizeof number, "%.1f", shown);
	char *point = strstr(number, ".0");
	if (point)
		*point = '\0';
	snprintf(text, duration_size, "%s %s%s", number, names[unit], strcmp(number, "1") ? "s" : "");
	return text;
}
