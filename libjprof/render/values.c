#include "render/values.h"

#include <math.h>
#include <stdio.h>

#include "base/tenths.h"
#include "render/render.h"

enum jp_unit jp_unit_of(const struct jprof_view *view, const struct jprof_report_opts *opts)
{
	return !jp_counts_bytes(view->info.counter) ? JP_OBJECTS : opts->show_bytes ? JP_BYTES : JP_MB;
}

enum jp_unit jp_fitting_unit(double bytes)
{
	static const double five_digits = 10000;
	enum jp_unit unit = JP_BYTES;
	while (unit < JP_GB && fabs(bytes) / jp_unit_size(unit) >= five_digits)
		unit++;
	return unit;
}

const char *jp_unit_name(enum jp_unit unit)
{
	static const char *const names[] = {
		[JP_OBJECTS] = "objects", [JP_BYTES] = "B", [JP_KB] = "KB", [JP_MB] = "MB", [JP_GB] = "GB"
	};
	return names[unit];
}

double jp_unit_size(enum jp_unit unit)
{
	static const double sizes[] = {
		[JP_OBJECTS] = 1, [JP_BYTES] = 1, [JP_KB] = 1024, [JP_MB] = 1048576, [JP_GB] = 1073741824
	};
	return sizes[unit];
}

void jp_put_value(char text[jp_cell], double value, enum jp_unit unit)
{
	if (unit > JP_BYTES)
		jp_put_tenths(text, jp_cell, value / jp_unit_size(unit));
	else
		jp_put_whole(text, jp_cell, value);
}

void jp_put_value_or_dot(char text[jp_cell], double value, enum jp_unit unit)
{
	if (value == 0)
		snprintf(text, jp_cell, ".");
	else
		jp_put_value(text, value, unit);
}

void jp_put_mean(char text[jp_cell], double mean, bool show_bytes)
{
	static const double next = 1023.5, one_digit = 99.95;
	enum jp_unit unit = JP_BYTES;
	while (!show_bytes && unit < JP_GB && mean / jp_unit_size(unit) >= next)
		unit++;
	double shown = mean / jp_unit_size(unit);
	if (isnan(mean))
		snprintf(text, jp_cell, "?");
	else
		snprintf(text, jp_cell, "%.*f%s", unit > JP_BYTES && shown < one_digit ? 1 : 0, shown,
		         show_bytes ? "" : jp_unit_name(unit));
}

struct jp_scale jp_scale_of(const struct jprof_view *view)
{
	return (struct jp_scale){ jp_whole(view), view->info.shares == JPROF_SHARES_OF_BASE };
}

static void put_with_unit(char text[jp_cell], double value, char unit)
{
	size_t len = jp_put_tenths(text, jp_cell - 1, value);
	text[len] = unit;
	text[len + 1] = '\0';
}

void jp_put_percent(char text[jp_cell], double value, struct jp_scale scale)
{
	static const double rounded_up = 1.0005;
	double whole = scale.whole;
	if (scale.of_base && fabs(value) >= rounded_up * fabs(whole))
		put_with_unit(text, value / whole, 'x');
	else if (whole != 0)
		put_with_unit(text, value * 100 / whole, '%');
	else
		snprintf(text, jp_cell, "%s", value == 0 ? "nan" : value > 0 ? "+inf" : "-inf");
}

void jp_put_columns(double flat, double sum, double cum, struct jp_scale scale, enum jp_unit unit,
                    struct jp_strbuf *out)
{
	char value[2][jp_cell], share[3][jp_cell];
	jp_put_value(value[0], flat, unit);
	jp_put_value(value[1], cum, unit);
	jp_put_percent(share[0], flat, scale);
	jp_put_percent(share[1], sum, scale);
	jp_put_percent(share[2], cum, scale);
	const struct {
		const char *text;
		size_t width;
	} cells[] = { { value[0], 8 }, { share[0], 6 }, { share[1], 6 }, { value[1], 8 }, { share[2], 6 } };
	for (size_t i = 0; i < jp_count(cells); i++) {
		jp_strbuf_right(out, cells[i].text, cells[i].width);
		jp_strbuf_str(out, " ");
	}
}
