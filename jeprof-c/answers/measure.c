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

struct measured measure_pace(double bytes, double seconds)
{
	bool hourly = seconds >= hour;
	const struct measure m = { 1048576, "MB" };
	struct measured pace;
	snprintf(pace.text, sizeof pace.text, "%.40s %s",
	         measure_in(m, bytes / seconds * (hourly ? hour : minute)).text, hourly ? "an hour" : "a minute");
	return pace;
}

struct measured measure_number(struct measure m, double bytes)
{
	static const double three_digits = 99.95;
	struct measured number;
	double shown = bytes / m.bytes;
	snprintf(number.text, sizeof number.text, "%.*f", fabs(shown) < three_digits ? 1 : 0, shown);
	return number;
}

struct measured measure_change(struct measure m, double bytes)
{
	struct measured change;
	snprintf(change.text, sizeof change.text, "%s%.40s", bytes < 0 ? "" : "+", measure_number(m, bytes).text);
	return change;
}

struct measured measure_in(struct measure m, double bytes)
{
	const struct measure fit = measure_fit(m, bytes);
	struct measured words;
	snprintf(words.text, sizeof words.text, "%.40s %s", measure_number(fit, bytes).text, fit.name);
	return words;
}

struct measured measure_grown(struct measure m, double bytes)
{
	struct measured change;
	snprintf(change.text, sizeof change.text, "%s%.60s", bytes < 0 ? "" : "+", measure_in(m, bytes).text);
	return change;
}

struct measured time_left(double seconds)
{
	struct measured time;
	if (seconds < 2 * day)
		snprintf(time.text, sizeof time.text, "%.0f h %.0f min", floor(seconds / hour),
		         floor(fmod(seconds, hour) / minute));
	else
		snprintf(time.text, sizeof time.text, "%.0f days", seconds / day);
	return time;
}

struct measured time_span(double seconds)
{
	static const struct {
		double least, unit;
		const char *name;
	} units[] = { { 3.0 * day, day, "days" }, { 1.5 * hour, hour, "hours" }, { 1.5 * minute, minute, "minutes" } };
	struct measured span;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (seconds >= units[i].least) {
			double count = seconds / units[i].unit;
			snprintf(span.text, sizeof span.text, "%.*f %s", units[i].unit > minute && count < 100 ? 1 : 0,
			         count, units[i].name);
			return span;
		}
	snprintf(span.text, sizeof span.text, "%.0f second%s", seconds, round(seconds) == 1 ? "" : "s");
	return span;
}

struct measured about_count(double count)
{
	struct measured about;
	char digits[32];
	double step = count >= 1000 ? pow(10, floor(log10(count)) - 2) : 1;
	int len = snprintf(digits, sizeof digits, "%.0f", round(count / step) * step), at = 0;
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			about.text[at++] = ',';
		about.text[at++] = digits[i];
	}
	about.text[at] = '\0';
	return about;
}

void measure_add(struct jp_strbuf *text, struct measure m, double bytes)
{
	if (bytes < 1024)
		jp_strbuf_printf(text, "%.0f bytes", bytes);
	else
		jp_strbuf_printf(text, "%s %s", measure_number(m, bytes).text, m.name);
}
