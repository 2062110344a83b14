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

struct jp_cell jp_shown_value(double value, enum jp_unit unit)
{
	struct jp_cell cell;
	if (unit > JP_BYTES)
		jp_put_tenths(cell.text, sizeof cell.text, value / jp_unit_size(unit));
	else
		jp_put_whole(cell.text, sizeof cell.text, value);
	return cell;
}

struct jp_cell jp_shown_value_or_dot(double value, enum jp_unit unit)
{
	return value == 0 ? (struct jp_cell){ "." } : jp_shown_value(value, unit);
}

struct jp_cell jp_shown_mean(double mean, bool show_bytes)
{
	static const double next = 1023.5, one_digit = 99.95;
	struct jp_cell cell = { "?" };
	enum jp_unit unit = JP_BYTES;
	while (!show_bytes && unit < JP_GB && mean / jp_unit_size(unit) >= next)
		unit++;
	double shown = mean / jp_unit_size(unit);
	if (!isnan(mean))
		snprintf(cell.text, sizeof cell.text, "%.*f%s", unit > JP_BYTES && shown < one_digit ? 1 : 0, shown,
		         show_bytes ? "" : jp_unit_name(unit));
	return cell;
}

struct jp_scale jp_scale_of(const struct jprof_view *view)
{
	return (struct jp_scale){ jp_whole(view), view->info.shares == JPROF_SHARES_OF_BASE };
}

static struct jp_cell tenths_cell(double value, char unit)
{
	struct jp_cell cell;
	size_t len = jp_put_tenths(cell.text, sizeof cell.text - 1, value);
	cell.text[len] = unit;
	cell.text[len + 1] = '\0';
	return cell;
}

struct jp_cell jp_shown_percent(double value, struct jp_scale scale)
{
	static const double rounded_up = 1.0005;
	double whole = scale.whole;
	if (scale.of_base && fabs(value) >= rounded_up * fabs(whole))
		return tenths_cell(value / whole, 'x');
	if (whole != 0)
		return tenths_cell(value * 100 / whole, '%');
	return value == 0  ? (struct jp_cell){ "nan" }
	       : value > 0 ? (struct jp_cell){ "+inf" }
	                   : (struct jp_cell){ "-inf" };
}

void jp_put_columns(double flat, double sum, double cum, struct jp_scale scale, enum jp_unit unit,
                    struct jp_strbuf *out)
{
	const struct jp_cell cells[] = { jp_shown_value(flat, unit), jp_shown_percent(flat, scale),
		                         jp_shown_percent(sum, scale), jp_shown_value(cum, unit),
		                         jp_shown_percent(cum, scale) };
	for (size_t i = 0; i < jp_count(cells); i++) {
		jp_strbuf_right(out, cells[i].text, i % 3 ? 6 : 8);
		jp_strbuf_str(out, " ");
	}
}
