#include "answers/limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say.h"

bool limit_parse(const char *option, const char *text, struct growth_limit *limit)
{
	static const struct {
		const char *name;
		double bytes;
	} units[] = { { "B", 1 },        { "K", 1024 },       { "KB", 1024 },      { "M", 1048576 },
		      { "MB", 1048576 }, { "G", 1073741824 }, { "GB", 1073741824 } };
	char *end;
	double number = strtod(text, &end);
	*limit = (struct growth_limit){ 0 };
	bool good = end > text && isfinite(number) && number >= 0 && *text != '-' && *text != '+';
	end += strspn(end, " ");
	if (good && !strcmp(end, "%") && number > 0) {
		limit->share = number / 100;
		return true;
	}
	if (good && !*end && number > 0) {
		say("--%s=%s: of what? Give a unit, such as %sMB or %s%%", option, text, text, text);
		return false;
	}
	if (good && !*end) /* nothing is nothing in any unit */
		return true;
	for (size_t i = 0; good && i < sizeof units / sizeof *units; i++)
		if (!strcasecmp(end, units[i].name)) {
			limit->bytes = number * units[i].bytes;
			return true;
		}
	say("--%s=%s: give a size such as 10MB, or a percentage such as 5%%", option, text);
	return false;
}

double limit_bytes(const struct growth_limit *limit, double first)
{
	static const double least = 1048576;
	if (!(limit->share > 0))
		return limit->bytes;
	return fmax(limit->share * first, least);
}

struct measured limit_words(const struct growth_limit *limit)
{
	static const double kb = 1024, mega = 1048576;
	struct measured words;
	double shown = limit->bytes;
	const char *unit = "bytes";
	if (limit->share > 0)
		shown = limit->share * 100, unit = "%";
	else if (shown >= mega || shown <= 0)
		shown = round(shown / mega * 10) / 10, unit = "MB";
	else if (shown >= kb)
		shown = round(shown / kb * 10) / 10, unit = "KB";
	snprintf(words.text, sizeof words.text, "%g %s", shown, unit);
	return words;
}
