#include "report/headline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/names.h"
#include "cli/shortage.h"
#include "report/outside.h"

enum { amount_most = headline_amount_most };

/* What a text is made from. */
struct headline {
	struct jp_strbuf *to;
	const struct loaded *loaded;
	const struct jprof_view_info *info;
	bool bytes, plain; /* a counter of bytes; bytes that are to be shown as bytes */
	struct jprof_range range;
};

static void group_digits(char text[amount_most], double n)
{
	char digits[amount_most];
	int len = snprintf(digits, 32, "%.0f", fabs(n)), at = 0;
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			text[at++] = ',';
		text[at++] = digits[i];
	}
	text[at] = '\0';
}

static void put_rounded_objects(char text[amount_most], double n)
{
	static const double million = 1e6;
	if (fabs(n) >= million)
		snprintf(text, amount_most, "%.1f million objects", fabs(n) / million);
	else {
		group_digits(text, trunc(n));
		strcat(text, fabs(trunc(n)) == 1 ? " object" : " objects");
	}
}

enum amount_unit { AS_OBJECTS, AS_BYTES, AS_KB, AS_MB, AS_GB };

static const double unit_bytes[] = { 1, 1, 1024, 1048576, 1073741824 };

/* As the table below has it: with two to four digits before the point. */
static enum amount_unit unit_of(const struct headline *t, double value)
{
	static const double five_digits = 10000;
	enum amount_unit unit = t->bytes ? AS_BYTES : AS_OBJECTS;
	while (unit && unit < AS_GB && !t->plain && fabs(value) / unit_bytes[unit] >= five_digits)
		unit++;
	return unit;
}

/* "412 MB", "7.4 million objects"; without its sign. */
static void put_headline_amount(const struct headline *t, char text[amount_most], double value)
{
	static const char *const names[] = { "", "B", "KB", "MB", "GB" };
	static const double three_digits = 99.95;
	enum amount_unit unit = unit_of(t, value);
	double shown = fabs(value) / unit_bytes[unit];
	if (unit == AS_OBJECTS)
		put_rounded_objects(text, value);
	else
		snprintf(text, amount_most, "%.*f %s", unit > AS_BYTES && shown < three_digits ? 1 : 0, shown,
		         names[unit]);
}

/* " (+-42)", half of the 95 % interval in the unit of `value`; nothing where it is not known or nothing. */
static void put_headline_error(const struct headline *t, double value)
{
	static const double one_digit = 9.95;
	enum amount_unit unit = unit_of(t, value);
	double half = (t->range.high - t->range.low) / 2 / unit_bytes[unit];
	char text[amount_most];
	if (isnan(half) || half <= 0)
		return;
	if (unit == AS_OBJECTS)
		group_digits(text, half);
	else
		snprintf(text, sizeof text, "%.*f", unit > AS_BYTES && half < one_digit ? 1 : 0, half);
	jp_strbuf_printf(t->to, " (+-%s)", text);
}

/* The other number of the pair: bytes of objects, objects of bytes. */
static double other_total(const struct headline *t)
{
	static const enum jprof_counter others[] = {
		[JPROF_INUSE_OBJECTS] = JPROF_INUSE_SPACE,
		[JPROF_INUSE_SPACE] = JPROF_INUSE_OBJECTS,
		[JPROF_ALLOC_OBJECTS] = JPROF_ALLOC_SPACE,
		[JPROF_ALLOC_SPACE] = JPROF_ALLOC_OBJECTS,
	};
	enum jprof_counter other = others[t->info->counter];
	const struct jprof_profile *p = t->loaded->profile;
	return t->info->thread ? jprof_profile_thread_total(p, other, t->info->thread) : jprof_profile_total(p, other);
}

static bool is_ever(const struct headline *t)
{
	return t->info->counter == JPROF_ALLOC_SPACE || t->info->counter == JPROF_ALLOC_OBJECTS;
}

static void put_state(const struct headline *t)
{
	char amount[amount_most], other[amount_most];
	put_headline_amount(t, amount, t->info->total);
	put_headline_amount(&(const struct headline){ .bytes = !t->bytes, .plain = t->plain }, other, other_total(t));
	jp_strbuf_str(t->to, amount);
	put_headline_error(t, t->info->total);
	jp_strbuf_printf(t->to, "%s in %s", is_ever(t) ? " allocated since the start," : "", other);
	if (t->range.samples > 0 && !isnan(t->range.error)) {
		char samples[amount_most];
		group_digits(samples, t->range.samples);
		jp_strbuf_printf(t->to, ", from %s sample%s", samples, t->range.samples == 1 ? "" : "s");
	}
}

static void put_change(const struct headline *t)
{
	static const char *const what[] = {
		[JPROF_INUSE_OBJECTS] = "objects in use",
		[JPROF_INUSE_SPACE] = "the heap",
		[JPROF_ALLOC_OBJECTS] = "allocated objects",
		[JPROF_ALLOC_SPACE] = "what was allocated",
	};
	char amount[amount_most], from[amount_most], to[amount_most];
	double change = t->info->total;
	put_headline_amount(t, amount, change);
	put_headline_amount(t, from, t->info->base);
	put_headline_amount(t, to, t->info->base + change);
	jp_strbuf_printf(t->to, "%s %s from %s to %s: %s%s", what[t->info->counter], change < 0 ? "shrank" : "grew",
	                 from, to, change < 0 ? "-" : "+", amount);
	put_headline_error(t, change);
	if (t->range.within_error)
		jp_strbuf_str(t->to, ", which may be chance");
}

/* What the shares of a difference are of. */
static void put_shares(const struct headline *t)
{
	char amount[amount_most];
	put_headline_amount(t, amount, t->info->percent_of);
	if (t->info->shares == JPROF_SHARES_OF_BASE)
		jp_strbuf_printf(t->to, "; shares are of the %s in the base", amount);
	else if (t->info->shares == JPROF_SHARES_OF_CHANGES)
		jp_strbuf_printf(t->to, "; shares are of the %s that grew or shrank", amount);
}

static bool counts_bytes(const struct jprof_view_info *info)
{
	return info->counter == JPROF_INUSE_SPACE || info->counter == JPROF_ALLOC_SPACE;
}

void headline_amount(char text[amount_most], const struct jprof_view *view, const struct options *o, double value)
{
	const struct headline t = { .plain = o->show_bytes, .bytes = counts_bytes(jprof_view_info(view)) };
	put_headline_amount(&t, text, value);
}

char *headline(const struct loaded *loaded, const struct jprof_view *view, const struct options *o,
               const struct inputs *inputs)
{
	const struct jprof_view_info *info = jprof_view_info(view);
	struct jp_strbuf text = { 0 };
	struct headline t = {
		.to = &text, .loaded = loaded, .info = info, .plain = o->show_bytes, .range = info->range
	};
	char total_of[outside_most];
	t.bytes = counts_bytes(info);
	if (!info->errors && info->thread)
		t.range = (struct jprof_range){ .error = NAN, .low = NAN, .high = NAN };
	else if (!info->errors)
		jprof_profile_range(loaded->profile, info->counter, &t.range);
	jp_strbuf_str(&text, program_name(info->program ? info->program : inputs->dumps[0],
	                                  jprof_profile_started_as(loaded->profile)));
	if (info->heading)
		jp_strbuf_printf(&text, ", thread %s", info->heading);
	jp_strbuf_str(&text, ": ");
	(info->difference ? put_change : put_state)(&t);
	put_shares(&t);
	if (outside_total_of(loaded, total_of))
		jp_strbuf_printf(&text, "; %s", total_of);
	return shortage_take(&text);
}
