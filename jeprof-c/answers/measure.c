#include "answers/measure.h"

#include <math.h>

enum { minute = 60, hour = 3600, day = 86400 };

struct measure measure_for(double largest)
{
	static const struct measure units[] = { { 1024, "KB" }, { 1048576, "MB" }, { 1073741824, "GB" } };
	static const double five_digits = 10000;
	size_t i = 0;
	while (i + 1 < sizeof units / sizeof *units && fabs(largest) / units[i].bytes >= five_digits)
		i++;
	return units[i];
}

struct measure measure_fit(struct measure m, double bytes)
{
	static const double least = 0.95;
	return fabs(bytes) / m.bytes >= least ? m : measure_for(bytes);
}

bool measure_has_pace(double seconds)
{
	return seconds >= minute;
}

const char *measure_pace(double bytes, double seconds, char text[measure_most])
{
	bool hourly = seconds >= hour;
	double pace = bytes / seconds * (hourly ? hour : minute);
	char number[measure_most];
	struct measure m = measure_fit((struct measure){ 1048576, "MB" }, pace);
	snprintf(text, measure_most, "%.24s %s %s", measure_number(m, pace, number), m.name,
	         hourly ? "an hour" : "a minute");
	return text;
}

const char *measure_number(struct measure m, double bytes, char text[measure_most])
{
	static const double three_digits = 99.95;
	double shown = bytes / m.bytes;
	snprintf(text, measure_most, "%.*f", fabs(shown) < three_digits ? 1 : 0, shown);
	return text;
}

const char *measure_change(struct measure m, double bytes, char text[measure_most])
{
	text[0] = '+';
	measure_number(m, bytes, bytes < 0 ? text : text + 1);
	return text;
}

const char *time_left(double seconds, char text[measure_most])
{
	if (seconds < 2 * day)
		snprintf(text, measure_most, "%.0f h %.0f min", floor(seconds / hour),
		         floor(fmod(seconds, hour) / minute));
	else
		snprintf(text, measure_most, "%.0f days", seconds / day);
	return text;
}

const char *time_span(double seconds, char text[measure_most])
{
	static const struct {
		double least, unit;
		const char *name;
	} units[] = { { 3.0 * day, day, "days" }, { 1.5 * hour, hour, "hours" }, { 1.5 * minute, minute, "minutes" } };
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (seconds >= units[i].least) {
			double count = seconds / units[i].unit;
			snprintf(text, measure_most, "%.*f %s", units[i].unit > minute && count < 100 ? 1 : 0, count,
			         units[i].name);
			return text;
		}
	snprintf(text, measure_most, "%.0f second%s", seconds, round(seconds) == 1 ? "" : "s");
	return text;
}

const char *about_count(double count, char text[measure_most])
{
	char digits[32];
	double step = count >= 1000 ? pow(10, floor(log10(count)) - 2) : 1;
	int len = snprintf(digits, sizeof digits, "%.0f", round(count / step) * step), at = 0;
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
	return text;
}

void measure_add(struct jp_strbuf *text, struct measure m, double bytes)
{
	char number[measure_most];
	if (bytes < 1024)
		jp_strbuf_printf(text, "%.0f bytes", bytes);
	else
		jp_strbuf_printf(text, "%s %s", measure_number(m, bytes, number), m.name);
}
