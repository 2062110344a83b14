#include "answers/explain_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "answers/explain_end.h"
#include "answers/measure.h"
#include "cli/shortage.h"
#include "cli/terminal.h"

enum { columns = 80, most_places = 3 };

/* ---- pieces ------------------------------------------------------------------------------------------------ */

static double growth_of(const struct jprof_explained *row)
{
	return row->growth;
}

/* A line that grows as it is made; what puts it frees it. */
struct explain_line {
	char *text; /* NULL: empty */
	size_t len;
};

static void add_words_to(struct explain_line *line, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add_words_to(struct explain_line *line, const char *fmt, ...)
{
	char *words;
	va_list args;
	va_start(args, fmt);
	int len = vasprintf(&words, fmt, args);
	va_end(args);
	if (shortage_unprinted(len))
		return;
	char *all = shortage_note(realloc(line->text, line->len + (size_t)len + 1));
	if (all) {
		memcpy(all + line->len, words, (size_t)len + 1);
		*line = (struct explain_line){ all, line->len + (size_t)len };
	}
	free(words);
}

static void end_line(struct explain_line *line)
{
	free(line->text);
	*line = (struct explain_line){ 0 };
}

static void put_whole_line(FILE *out, struct explain_line *line)
{
	fprintf(out, "%s\n", line->text ? line->text : "");
	end_line(line);
}

/* Half of the 95 % interval; "" where a number is counted. */
static void add_error(struct explain_line *line, const struct jprof_range *range)
{
	if (!isnan(range->error))
		add_words_to(line, " (+-%.1f)", (range->high - range->low) / 2 / mb);
}

static void add_name(struct explain_line *line, const char *name)
{
	enum { most_for_byte = 4 };
	size_t size = most_for_byte * strlen(name) + 1;
	char *visible = shortage_note(malloc(size));
	if (!visible)
		return;
	jprof_visible(name, visible, size);
	add_words_to(line, "%s", visible);
	free(visible);
}

/* Likewise, no more of it than fits into `room` columns: its two ends. */
static void add_cut_name(struct explain_line *line, const char *name, size_t room)
{
	char *text = NULL;
	size_t len;
	FILE *to = shortage_note(open_memstream(&text, &len));
	if (!to)
		return;
	terminal_put_cut(to, name, room);
	if (shortage_close(to, &text))
		add_words_to(line, "%s", text);
	free(text);
}

static void put_wrapped(FILE *out, struct explain_line *line)
{
	explain_put_wrapped(out, line->text ? line->text : "");
	end_line(line);
}

/* ---- the head ---------------------------------------------------------------------------------------------- */

/* Growth is spoken of where chance alone would not make it. */
static bool grows(const struct jprof_explain_info *info)
{
	return !isnan(info->growth) && info->growth > (isnan(info->error) ? 0 : info->error) && info->growth > 0;
}

static void put_group(FILE *out, const struct jprof_explain_info *info)
{
	struct explain_line line = { 0 };
	const struct jprof_group *g = &info->group;
	if (!g->known)
		return;
	add_words_to(&line, "Its control group has %.0f MB", g->current / mb);
	if (isfinite(g->limit) && g->limit > 0)
		add_words_to(&line, " of %.0f MB (%.0f %%)", g->limit / mb, g->current * 100 / g->limit);
	else
		add_words_to(&line, ", and no limit");
	if (!isnan(g->cache))
		add_words_to(&line, "; %.0f MB of that are page cache", g->cache / mb);
	if (!isnan(g->anon) && g->anon - info->total > 0)
		add_words_to(&line, ", %.0f MB other processes", (g->anon - info->total) / mb);
	add_words_to(&line, ".");
	put_wrapped(out, &line);
}

void explain_put_head(FILE *out, const struct explained *what)
{
	const struct jprof_explain_info *info = jprof_explain_info(what->explanation);
	struct explain_line line = { 0 };
	add_name(&line, what->path);
	if (!what->live) {
		add_words_to(&line, ": ");
		add_words_to(&line, *what->members && info->processes < 2 ? "process " : "");
		add_name(&line, *what->members ? what->members : "a dump");
	}
	if (info->dumpless && !explain_part_of(what->explanation, JPROF_PART_LIVE))
		add_words_to(&line, "; %s without a profile", info->processes > 1 ? "they run" : "it runs");
	else if (!isnan(info->total))
		add_words_to(&line, "; %.1f MB", info->total / mb);
	put_wrapped(out, &line);
	put_group(out, info);
}

/* The i-th largest row of depth 0; NULL: there is none. */
static const struct jprof_explained *largest_part(const struct jprof_explanation *e, int i)
{
	const struct jprof_explained *last = NULL;
	for (; i >= 0; i--) {
		const struct jprof_explained *best = NULL;
		for (size_t r = 0; r < jprof_explain_count(e); r++) {
			const struct jprof_explained *row = jprof_explain_at(e, r);
			if (!row->depth && *words_of_part(row->part)->verb && row->bytes > 0 &&
			    (!last || row->bytes < last->bytes) && (!best || row->bytes > best->bytes))
				best = row;
		}
		last = best;
		if (!best)
			break;
	}
	return last;
}

static double explained_bytes(const struct jprof_explained *row)
{
	return row->bytes;
}

/* What shares are of: all memory, in which what several processes share counts once. */
static double whole_of(const struct jprof_explanation *e)
{
	return jprof_explain_info(e)->total;
}

/* What a part is, behind its size. */
static const char *verb_of(const struct explained *what, enum jprof_part part)
{
	bool ruby = what->ruby || *jprof_explain_info(what->explanation)->settings.ruby;
	return part == JPROF_PART_PAST && ruby ? "are Ruby's GC heap, and what else was mapped past malloc"
	                                       : words_of_part(part)->verb;
}

/* The size class with most of the free places, or whose free places grew most; NULL: there is none. */
static const struct jprof_explained *worst_class(const struct jprof_explanation *e,
                                                 double (*by)(const struct jprof_explained *))
{
	const struct jprof_explained *row, *worst = NULL;
	for (size_t i = 0; (row = jprof_explain_at(e, i)); i++)
		if (row->part == JPROF_PART_SIZE_CLASS && by(row) > 0 && (!worst || by(row) > by(worst)))
			worst = row;
	return worst;
}

/* Where fragmentation is a fifth of what grew, or of one snapshot of the memory: its class, and who lies there. */
static void add_worst_class(struct explain_line *line, const struct jprof_explanation *e)
{
	static const double much = 0.2;
	const struct jprof_explain_info *info = jprof_explain_info(e);
	bool single = isnan(info->growth);
	double (*by)(const struct jprof_explained *) = single ? explained_bytes : growth_of;
	const struct jprof_explained *part = explain_part_of(e, JPROF_PART_FRAGMENTATION), *class = worst_class(e, by);
	double all = single ? whole_of(e) : info->growth;
	if (!part || !class || !*class->tenants || (!single && !grows(info)) || !(by(part) >= much * all))
		return;
	const char *others = strstr(class->tenants, " %, ");
	add_words_to(line, "Fragmentation %s %.1f MB, %.1f MB of that between objects of %llu bytes; there lie now: ",
	             single ? "is" : "grew by", by(part) / mb, by(class) / mb, (unsigned long long)class->object_size);
	char *tenant = shortage_note(
	    strndup(class->tenants, others ? (size_t)(others - class->tenants) + 2 : strlen(class->tenants)));
	add_name(line, tenant ? tenant : "");
	free(tenant);
	add_words_to(line, ". ");
}

/* The program's own classes: as many as two lines have room for. */
static void put_own_classes(FILE *out, const struct jprof_explanation *e)
{
	enum { most_own = 5, room = 2 * columns };
	const struct jprof_explained *row;
	struct explain_line line = { 0 };
	int named = 0;
	for (size_t i = 0; (row = jprof_explain_at(e, i)) && named < most_own; i++) {
		if (!row->own || line.len + strlen(row->name) + strlen(", 99,999,999 objects (999.9 MB)") > room)
			continue;
		add_words_to(&line, named ? ", " : "Your classes: ");
		add_name(&line, row->name);
		add_words_to(&line, named++ ? " %.0f (%.1f MB)" : " %.0f objects (%.1f MB of slots)", row->objects,
		             row->bytes / mb);
	}
	if (named)
		add_words_to(&line, ".");
	if (named)
		fputc('\n', out);
	if (named)
		put_wrapped(out, &line);
	end_line(&line);
}

static const double much_untouched = 0.2; /* of all memory: from here on it is said at once */

void explain_put_sentence(FILE *out, const struct explained *what)
{
	const struct jprof_explanation *e = what->explanation;
	const struct jprof_explain_info *info = jprof_explain_info(e);
	const struct jprof_explained *row;
	struct explain_line line = { 0 };
	bool known = !isnan(info->total);
	if (what->answer)
		add_words_to(&line, "%s%s", what->answer, known ? " " : "");
	if (!known && !line.len)
		return;
	if (known)
		add_worst_class(&line, e);
	for (int i = 0; known && i < most_places && (row = largest_part(e, i)); i++)
		add_words_to(&line, "%s%.1f MB (%.0f %%) %s", i ? ", " : "", row->bytes / mb,
		             row->bytes * 100 / whole_of(e), verb_of(what, row->part));
	if (known && jprof_explain_count(e))
		add_words_to(&line, ".");
	const struct jprof_explained *untouched = explain_part_of(e, JPROF_PART_UNTOUCHED);
	if (untouched && -untouched->bytes >= much_untouched * whole_of(e))
		add_words_to(&line, " %.1f MB of what is counted were never touched, and take no memory.",
		             -untouched->bytes / mb);
	fputc('\n', out);
	put_wrapped(out, &line);
}

/* ---- the table --------------------------------------------------------------------------------------------- */

/* The groups of a kind: those that fit, the first one in any case, and how many more there are. */
static void add_group_names(struct explain_line *line, const struct jprof_explanation *e, size_t first, size_t room)
{
	size_t i = first, named = 0, begin = line->len;
	double rest = 0;
	const struct jprof_explained *row;
	for (; (row = jprof_explain_at(e, i)) && row->depth == 2; i++) {
		struct explain_line bytes = { 0 };
		add_words_to(&bytes, " %.1f", row->bytes / mb);
		const struct jprof_explained *after = jprof_explain_at(e, i + 1);
		bool last = named == i - first && (!after || after->depth != 2);
		size_t used = line->len - begin + bytes.len + (named ? 2 : 0) + (last ? 0 : strlen(", 9 others 99.9"));
		if (rest == 0 && (i == first || used + terminal_columns(row->name) <= room)) {
			add_words_to(line, named++ ? ", " : "");
			add_cut_name(line, row->name, room > used ? room - used : 1);
			add_words_to(line, "%s", bytes.text ? bytes.text : "");
		} else {
			rest += row->bytes;
		}
		end_line(&bytes);
	}
	size_t others = i - first - named;
	if (others)
		add_words_to(line, "%s%zu other%s %.1f", named ? ", " : "", others, others > 1 ? "s" : "", rest / mb);
}

static const double least_padding = 0.5; /* of fragmentation: then it is what there is to say of it */

/* The i-th row, if it is a size class. */
static const struct jprof_explained *class_behind(const struct jprof_explanation *e, size_t i)
{
	const struct jprof_explained *row = jprof_explain_at(e, i);
	return row && row->part == JPROF_PART_SIZE_CLASS ? row : NULL;
}

/* What stands behind the words of a part: its own parts, in few words. */
static void add_detail(struct explain_line *line, const struct jprof_explanation *e, size_t at)
{
	const struct jprof_explained *row = jprof_explain_at(e, at), *next = jprof_explain_at(e, at + 1);
	if (!next || !next->depth)
		return;
	if (row->part == JPROF_PART_GC_HEAP && next->part == JPROF_PART_GC_OBJECTS)
		add_words_to(line, ": %.1f in objects, %.1f in free slots", next->bytes / mb,
		             jprof_explain_at(e, at + 2)->bytes / mb);
	else if (row->part == JPROF_PART_FRAGMENTATION && next->part == JPROF_PART_PADDING &&
	         next->bytes >= least_padding * row->bytes)
		add_words_to(line, ": %.1f of it are %s", next->bytes / mb, words_of_part(next->part)->words);
	else if (row->part == JPROF_PART_FRAGMENTATION &&
	         (next->part == JPROF_PART_SIZE_CLASS || (next = class_behind(e, at + 2))))
		add_words_to(line, ": %.1f of it in objects of %llu bytes", next->bytes / mb,
		             (unsigned long long)next->object_size);
	else if (row->part == JPROF_PART_PROFILER)
		add_words_to(line, ": %s", words_of_part(next->part)->words);
	else if (row->part == JPROF_PART_METADATA)
		add_words_to(line, ": %.1f %s", next->bytes / mb, words_of_part(next->part)->words);
}

static void add_number(struct explain_line *line, int width, const char *fmt_sign, double bytes)
{
	if (isnan(bytes))
		add_words_to(line, "%*s", width, "");
	else if (*fmt_sign)
		add_words_to(line, "%+*.1f", width, bytes / mb);
	else
		add_words_to(line, "%*.1f", width, bytes / mb);
}

/* The groups of a kind, behind its words or, where not one would fit there, below them; `line` is what is left to put.
 */
static void put_kind(FILE *out, struct explain_line *line, const struct jprof_explanation *e, size_t at)
{
	const struct jprof_explained *first = jprof_explain_at(e, at + 1);
	struct explain_line one = { 0 };
	if (first)
		add_name(&one, first->name);
	size_t room = columns > line->len ? columns - line->len : 0;
	if (one.len + strlen(" 99.9, 9 others 99.9") > room) {
		put_whole_line(out, line);
		add_words_to(line, "%28s", "");
	}
	add_words_to(line, "  ");
	end_line(&one);
	add_group_names(line, e, at + 1, columns > line->len ? columns - line->len : 0);
}

/* The words of a row, where they depend on what else is known. */
static void add_part_words(struct explain_line *line, const struct explained *what, const struct jprof_explained *row)
{
	const struct jprof_explain_info *info = jprof_explain_info(what->explanation);
	bool single = info->processes == 1 && info->shared >= 0.05 * mb;
	if (row->part == JPROF_PART_TOTAL && info->processes > 1)
		add_words_to(line, "sum of Pss of %u processes; shared memory counts once", info->processes);
	else if (row->part == JPROF_PART_TOTAL && single)
		add_words_to(line, "RSS; %.1f of it is shared with other processes since a fork", info->shared / mb);
	else if (row->part == JPROF_PART_ANONYMOUS && what->ruby)
		add_words_to(line, "anonymous memory: malloc and Ruby's GC heap together");
	else if (row->part == JPROF_PART_PAST && (what->ruby || *info->settings.ruby))
		add_words_to(line, "Ruby's GC heap, and what else was mapped past malloc");
	else if (row->part == JPROF_PART_KIND)
		add_name(line, row->name);
	else if (row->part == JPROF_PART_LIVE && !isnan(row->objects))
		add_words_to(line, "live malloc memory, %.0f blocks", row->objects);
	else
		add_words_to(line, "%s", words_of_part(row->part)->words);
}

static void put_part_row(FILE *out, const struct explained *what, size_t at, bool growth)
{
	const struct jprof_explanation *e = what->explanation;
	const struct jprof_explain_info *info = jprof_explain_info(e);
	const struct jprof_explained *row = jprof_explain_at(e, at);
	struct explain_line line = { 0 };
	add_number(&line, 7, "", row->bytes);
	bool after_sum = info->processes > 1 && (row->part == JPROF_PART_SHARED || row->part == JPROF_PART_TOTAL);
	if (row->depth || after_sum || isnan(info->total))
		add_words_to(&line, "       ");
	else
		add_words_to(&line, " %4.0f %%", row->bytes * 100 / whole_of(e));
	if (growth)
		add_number(&line, 8, "+", row->growth);
	add_words_to(&line, "  %*s", (int)row->depth * 2, "");
	add_part_words(&line, what, row);
	if (row->part == JPROF_PART_NOT_EXPLAINED && row->bytes < 0)
		add_words_to(&line, " (below 0: parts above were never touched)");
	add_error(&line, &row->range);
	if (row->part == JPROF_PART_KIND)
		put_kind(out, &line, e, at);
	add_detail(&line, e, at);
	put_whole_line(out, &line);
}

/* Of depth 1 those are rows that the row above does not have in its detail. What is there twice is shown from half a
 * percent on. */
static bool has_row_of_its_own(const struct jprof_explanation *e, const struct jprof_explained *row)
{
	static const double least_twice = 0.005;
	if (row->part == JPROF_PART_INTERNAL_LIVE || row->part == JPROF_PART_TWICE)
		return !(fabs(row->bytes) < least_twice * whole_of(e));
	return !row->depth || row->part == JPROF_PART_KIND || row->part == JPROF_PART_NOT_SAMPLED ||
	       row->part == JPROF_PART_DIRTY || row->part == JPROF_PART_MUZZY || row->part == JPROF_PART_CACHED;
}

static void put_parts(FILE *out, const struct explained *what)
{
	const struct jprof_explanation *e = what->explanation;
	bool growth = false;
	for (size_t i = 0; i < jprof_explain_count(e); i++)
		growth = growth || !isnan(jprof_explain_at(e, i)->growth);
	fprintf(out, "\n     MB %s%s  where\n", isnan(jprof_explain_info(e)->total) ? "      " : " share",
	        growth ? "  growth" : "");
	for (size_t i = 0; i < jprof_explain_count(e); i++)
		if (has_row_of_its_own(e, jprof_explain_at(e, i)))
			put_part_row(out, what, i, growth);
}

/* ---- fragmentation ------------------------------------------------------------------------------------------ */

/* The classes with most of the free places: more than a tenth of all. */
static void put_classes(FILE *out, const struct jprof_explanation *e)
{
	double all = 0;
	int put = 0;
	for (size_t i = 0; i < jprof_explain_count(e); i++) {
		const struct jprof_explained *row = jprof_explain_at(e, i);
		struct explain_line line = { 0 };
		if (row->part == JPROF_PART_FRAGMENTATION)
			all = row->bytes;
		if (row->part != JPROF_PART_SIZE_CLASS || row->bytes < all / 10 || put == most_places)
			continue;
		if (!put++)
			fprintf(out, "\nFree places between objects of one size, and whose objects lie there now\n");
		add_number(&line, 7, "", row->bytes);
		add_words_to(&line, " MB  %llu bytes", (unsigned long long)row->object_size);
		if (!isnan(row->growth))
			add_words_to(&line, " (%+.1f)", row->growth / mb);
		if (*row->tenants) {
			add_words_to(&line, ": ");
			add_name(&line, row->tenants);
		}
		put_whole_line(out, &line);
	}
}

/* Whose the free places are, as far as that is known. */
static void put_free_owners(FILE *out, const struct explained *what)
{
	int put = 0;
	for (size_t i = 0; i < jprof_explain_count(what->explanation) && put < most_places; i++) {
		const struct jprof_explained *row = jprof_explain_at(what->explanation, i);
		struct explain_line line = { 0 };
		if (row->part != JPROF_PART_FREE_OWNER || row->bytes < mb / 20)
			continue;
		if (!put++)
			fprintf(out, "\n%s\n",
			        what->accumulated ? "Free places by who freed the objects that lay there"
			                          : "Free places of size classes that one owner alone is in");
		add_number(&line, 7, "", row->bytes);
		add_words_to(&line, " MB  ");
		add_name(&line, row->name);
		put_whole_line(out, &line);
	}
}

/* Ruby's objects by type or class, where they were counted: those with most slots, or whose slots grew most. */
static void put_live_objects(FILE *out, const struct jprof_explanation *e, enum jprof_part part, const char *heading)
{
	enum { most_kinds = 8 };
	const struct jprof_explained *row;
	int put = 0;
	for (size_t i = 0; (row = jprof_explain_at(e, i)) && put < most_kinds; i++) {
		struct explain_line line = { 0 };
		if (row->part != part || row->bytes < mb / 20)
			continue;
		if (!put++)
			fprintf(out, "\n%s\n", heading);
		add_number(&line, 7, "", row->bytes);
		add_words_to(&line, " MB  ");
		if (!isnan(row->growth))
			add_words_to(&line, "%+8.1f MB  ", row->growth / mb);
		add_name(&line, row->name);
		add_words_to(&line, " (%.0f", row->objects);
		if (!isnan(row->objects_growth))
			add_words_to(&line, ", %+.0f", row->objects_growth);
		add_words_to(&line, ")");
		put_whole_line(out, &line);
	}
}

/* ---- what would help ----------------------------------------------------------------------------------------- */

static void put_helps(FILE *out, const struct jprof_explanation *e)
{
	const struct jprof_help *help;
	for (size_t i = 0; (help = jprof_explain_help(e, i)); i++) {
		struct help_words words = words_of_help(help, &jprof_explain_info(e)->settings);
		char saves[64];
		snprintf(saves, sizeof saves, "%s%.0f MB", help->part ? "part of " : "", help->saves / mb);
		if (!i)
			fprintf(out, "\n%-66s%14s\n", "What would help, in this order", "saves about");
		fprintf(out, "%zu  %-63s%14s\n   why: %s\n", i + 1, words.what, saves, words.why);
	}
}

void explain_put_text(FILE *out, const struct explained *what)
{
	explain_put_head(out, what);
	explain_put_sentence(out, what);
	put_own_classes(out, what->explanation);
	put_parts(out, what);
	put_live_objects(out, what->explanation, JPROF_PART_OBJECT_TYPE,
	                 "Objects in Ruby's GC heap, by type (slots, number)");
	put_live_objects(out, what->explanation, JPROF_PART_OBJECT_CLASS, "and by class");
	put_classes(out, what->explanation);
	put_free_owners(out, what);
	put_helps(out, what->explanation);
	explain_put_end(out, what);
}
