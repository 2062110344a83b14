#include "report/headline.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/names.h"
#include "cli/shortage.h"
#include "cli/terminal.h"
#include "report/servicename.h"

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
static void put_amount_as(char text[amount_most], enum amount_unit unit, double value)
{
	static const char *const names[] = { "", "B", "KB", "MB", "GB" };
	static const double three_digits = 99.95;
	double shown = fabs(value) / unit_bytes[unit];
	if (unit == AS_OBJECTS)
		put_rounded_objects(text, value);
	else
		snprintf(text, amount_most, "%.*f %s", unit > AS_BYTES && shown < three_digits ? 1 : 0, shown,
		         names[unit]);
}

static void put_headline_amount(const struct headline *t, char text[amount_most], double value)
{
	put_amount_as(text, unit_of(t, value), value);
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
	jp_strbuf_printf(t->to, " (%s%s)", terminal_plus_minus(), text);
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

/* All memory of the processes, before what malloc gave; nothing where that is not known, or something else is counted.
 * Processes that forked from each other have some of it several times in the profile. Returns what follows malloc's. */
static const char *put_memory(const struct headline *t)
{
	char amount[amount_most];
	struct jprof_outside now;
	double memory = headline_memory(t->loaded);
	jprof_profile_outside(t->loaded->profile, false, &now);
	if (isnan(memory) || t->info->counter != JPROF_INUSE_SPACE || t->info->thread ||
	    t->info->flat != t->info->total)
		return " in";
	bool part = !now.related && t->info->total <= memory;
	put_headline_amount(t, amount, memory);
	bool slots = jprof_profile_info(t->loaded->profile)->has_slots;
	jp_strbuf_printf(t->to,
	                 part    ? "%s, "
	                 : slots ? "%s; in malloc and Ruby's objects "
	                         : "%s; malloc gave ",
	                 amount);
	return !part ? " in" : slots ? " of it in malloc and Ruby's objects, in" : " of it in malloc, in";
}

static void put_state(const struct headline *t)
{
	char amount[amount_most], other[amount_most];
	const char *in = put_memory(t);
	put_headline_amount(t, amount, t->info->total);
	put_headline_amount(&(const struct headline){ .bytes = !t->bytes, .plain = t->plain }, other, other_total(t));
	jp_strbuf_str(t->to, amount);
	put_headline_error(t, t->info->total);
	jp_strbuf_printf(t->to, "%s%s %s", is_ever(t) ? " allocated since the start," : "", in, other);
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

double headline_memory(const struct loaded *l)
{
	struct jprof_outside now;
	jprof_profile_outside(l->profile, false, &now);
	return now.processes > 1 ? now.pss : jprof_profile_figure(l->profile, false, JPROF_FIGURE_RSS);
}

/* A name of its own, not one of many that are told apart by their addresses. */
static bool is_named(const struct jprof_row *row, enum jprof_granularity granularity)
{
	return granularity == JPROF_BY_LIBRARY || granularity == JPROF_BY_TAG ||
	       (row->source != JPROF_SOURCE_NONE && row->source != JPROF_SOURCE_FDE);
}

void headline_share(char text[headline_share_most], double part, double whole)
{
	double share = whole > 0 ? fabs(part) * 100 / whole : 0;
	snprintf(text, headline_share_most, part != 0 && share < 0.5 ? "under 1 %%" : "%.0f %%", share);
}

void headline_part(char text[amount_most], const struct jprof_view *view, const struct options *o, double part,
                   double whole)
{
	static const double least = 0.95;
	const struct headline t = { .plain = o->show_bytes, .bytes = counts_bytes(jprof_view_info(view)) };
	enum amount_unit unit = unit_of(&t, whole);
	put_amount_as(text, fabs(part) / unit_bytes[unit] < least ? unit_of(&t, part) : unit, part);
}

void headline_add_biggest(struct jp_strbuf *text, const struct jprof_view *view, const struct options *o)
{
	static const char *const nouns[] = {
		[JPROF_BY_FUNCTION] = "function", [JPROF_BY_LINE] = "line",  [JPROF_BY_FILE] = "file",
		[JPROF_BY_LIBRARY] = "library",   [JPROF_BY_SITE] = "place", [JPROF_BY_TAG] = "tag"
	};
	const struct jprof_table_opts opts = { .size = sizeof opts, .top = 1 };
	const struct jprof_view_info *info = jprof_view_info(view);
	enum jprof_granularity by = info->granularity;
	struct jprof_table *table;
	double whole = info->percent_of != 0 ? info->percent_of : info->flat;
	if (info->difference || !(whole > 0) || (size_t)by >= sizeof nouns / sizeof *nouns || !nouns[by] ||
	    shortage_note_code(jprof_table_new(view, &opts, &table, NULL)))
		return;
	const struct jprof_row *row = jprof_table_at(table, 0);
	if (row && row->flat > 0 && is_named(row, by)) {
		char amount[amount_most], share[headline_share_most];
		headline_part(amount, view, o, row->flat, whole);
		headline_share(share, row->flat, whole);
		jp_strbuf_printf(text, "%sThe biggest %s is ", text->len ? ". " : "",
		                 row->line && (by == JPROF_BY_SITE || by == JPROF_BY_LINE) ? "line" : nouns[by]);
		jp_strbuf_visible(text, row->name);
		const struct source_place place = source_place(row->name, row->file, row->line);
		if (*place.text)
			jp_strbuf_str(text, ", ");
		jp_strbuf_visible(text, place.text);
		jp_strbuf_printf(text, ", %s (%s).", amount, share);
	}
	jprof_table_free(table);
}

void headline_add_whose(struct jp_strbuf *text, const struct loaded *loaded, const struct jprof_view *view,
                        const struct inputs *inputs)
{
	const struct jprof_view_info *info = jprof_view_info(view);
	struct jprof_service service;
	jprof_profile_service(loaded->profile, &service);
	service.program = info->program ? info->program : service.program;
	whose_add(text, &service, inputs->dumps[0]);
}

char *headline(const struct loaded *loaded, const struct jprof_view *view, const struct options *o,
               const struct inputs *inputs)
{
	const struct jprof_view_info *info = jprof_view_info(view);
	struct jp_strbuf text = { 0 };
	struct headline t = {
		.to = &text, .loaded = loaded, .info = info, .plain = o->show_bytes, .range = info->range
	};
	t.bytes = counts_bytes(info);
	if (!info->errors && info->thread)
		t.range = (struct jprof_range){ .error = NAN, .low = NAN, .high = NAN };
	else if (!info->errors)
		jprof_profile_range(loaded->profile, info->counter, &t.range);
	headline_add_whose(&text, loaded, view, inputs);
	if (info->heading)
		jp_strbuf_printf(&text, ", thread %s", info->heading);
	jp_strbuf_str(&text, ": ");
	(info->difference ? put_change : put_state)(&t);
	put_shares(&t);
	headline_add_biggest(&text, view, o);
	return shortage_take(&text);
}
