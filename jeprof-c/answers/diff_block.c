/* What a diff says of a leak suspect. */
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "answers/diff_text.h"
#include "cli/shortage.h"

static const double most_of_it = 0.9;
static const double one_object = 1.05; /* below it: a large object is sampled nearly for sure */

static void add_block_detail(struct answer *a, const char *label, const char *text)
{
	jp_strbuf_visible(answer_add_detail(a, label), text);
}

/* Likewise, and empties it; no detail where there is nothing. */
static void add_made_detail(struct answer *a, const char *label, struct jp_strbuf *text)
{
	const char *made = shortage_text(text);
	if (*made)
		add_block_detail(a, label, made);
	jp_strbuf_release(text);
}

/* "Ruby data: String; 3.0 KB on average, about 108,000 more of them", which is of its main size class. */
static void add_what(struct answer *a, const struct jprof_grown *row)
{
	struct jp_strbuf text = { 0 };
	if (row->kind)
		jp_strbuf_printf(&text, "%s", row->kind);
	if (row->kind && row->kind_share < most_of_it)
		jp_strbuf_printf(&text, " (%.0f %%)", row->kind_share * 100);
	if (row->size > 0 && row->size_count >= 1 && row->whole.growth > 0) {
		bool one = row->size_count < one_object;
		jp_strbuf_printf(&text, "%s%s", text.len ? "; " : "", one ? "one object of " : "");
		measure_add(&text, measure_for(row->size), row->size);
		if (!one)
			jp_strbuf_printf(&text, " on average, about %s more of them",
			                 about_count(row->size_count).text);
		if (row->size_share < most_of_it)
			jp_strbuf_printf(&text, " (%.0f %%)", row->size_share * 100);
	}
	add_made_detail(a, "what", &text);
}

/* "String +112 MB (+200,000), Array +3.1 MB (+40,000)": of what Ruby's GC heap holds more. */
static void add_heap_growth(struct answer *a, const struct diff_report *r)
{
	enum { most_types = 3 };
	struct jp_strbuf text = { 0 };
	const struct jprof_object_change *o;
	for (size_t i = 0; i < most_types && (o = jprof_series_object(r->loaded->series, i)) && !o->is_class; i++) {
		double more = o->bytes[1] - o->bytes[0], objects = o->count[1] - o->count[0];
		if (more > 0 && objects > 0)
			jp_strbuf_printf(&text, "%s%s %s (+%s)", text.len ? ", " : "", o->name,
			                 measure_grown(r->measure, more).text, about_count(objects).text);
	}
	add_made_detail(a, "what", &text);
}

/* Of a leak suspect: that it grew in each step, where each is beyond its error; or that its ages say what it is. */
static const char *words_of_steps(const struct jprof_grown *row, size_t steps)
{
	if (row->verdict != JPROF_LEAK_SUSPECT)
		return "";
	bool each = true, fell = false;
	for (size_t i = 0; i < steps; i++) {
		const struct jprof_change *step = &row->steps[i];
		each = each && step->growth > 0 && !(step->range.low <= 0);
		fell = fell || step->growth <= 0;
	}
	bool aged = row->shape == JPROF_SHAPE_GROWING || row->shape_since == JPROF_SHAPE_GROWING;
	return each ? ": it grew in each step" : fell && aged ? ": by its ages" : "";
}

static void add_pace(struct answer *a, const struct diff_report *r, const struct jprof_grown *row,
                     const struct worker_share *share)
{
	struct jp_strbuf text = { 0 };
	size_t steps = jprof_series_info(r->loaded->series)->snapshots - 1;
	struct measure m = measure_fit(r->measure, row->values[steps]);
	bool has_pace = measure_has_pace(row->whole.seconds);
	if (has_pace)
		jp_strbuf_printf(&text, "%s%s", measure_pace(row->whole.growth, row->whole.seconds).text,
		                 steps > 1 ? "; " : "");
	for (size_t i = 0; steps > 1 && i <= steps; i++)
		jp_strbuf_printf(&text, "%s%.1f", i ? ", " : "", row->values[i] / m.bytes);
	if (steps > 1)
		jp_strbuf_printf(&text, " %s%s", m.name, words_of_steps(row, steps));
	if (*workers_words(share).text)
		jp_strbuf_printf(&text, "%s%s", text.len ? ", " : "", workers_words(share).text);
	add_made_detail(a, has_pace ? "pace" : steps > 1 ? "steps" : "grew", &text);
}

/* Without ages: what a worker has of it from before it was forked is no more than what the master has. */
static void add_fork_bound(struct answer *a, const struct diff_report *r, const struct jprof_grown *row,
                           const struct worker_share *share)
{
	struct jp_strbuf text = { 0 };
	struct measure m = measure_fit(r->measure, fmax(share->master, row->whole.growth));
	if (row->part != JPROF_PART_LIVE || share->workers < 2 || isnan(share->master) || row->ages)
		return;
	if (share->master / m.bytes < 0.05)
		jp_strbuf_str(&text, "since the fork: the master has none of it");
	else
		jp_strbuf_printf(&text, "from before the fork: %s %s in each worker at most",
		                 measure_number(m, share->master).text, m.name);
	add_made_detail(a, "age", &text);
}

/* "GET /products/:id" of "route GET /products/:id". */
static const char *without_tag_word(const char *tag)
{
	static const char *const words[] = { "route ", "job " };
	for (size_t w = 0; w < sizeof words / sizeof *words; w++)
		if (!strncmp(tag, words[w], strlen(words[w])))
			return tag + strlen(words[w]);
	return tag;
}

/* "GET /products/:id 96 %, PriceSyncJob 4 %" */
static void add_tags(struct answer *a, const struct jprof_grown *row)
{
	enum { most_tags = 3 };
	struct jp_strbuf text = { 0 };
	double all = 0, tagged = 0;
	for (size_t i = 0; i < row->tag_count; i++) {
		all += row->tags[i].bytes;
		tagged += row->tags[i].tag ? row->tags[i].bytes : 0;
	}
	for (size_t i = 0; i < row->tag_count && i < most_tags && tagged > 0; i++) {
		const struct jprof_tag_part *part = &row->tags[i];
		jp_strbuf_printf(&text, "%s%s %.0f %%", text.len ? ", " : "",
		                 part->tag ? without_tag_word(part->tag) : "no tag", part->bytes * 100 / all);
	}
	add_made_detail(a, "for", &text);
}

/* How the ages of what grew are cut in three. */
static const struct age_cut {
	size_t bands; /* that are young; the next is the middle */
	const char *young, *middle, *old;
} age_cuts[] = {
	{ 1, "under 1 min", "1 to 10 min", "over 10 min" }, { 2, "under 10 min", "10 min to 1 h", "over 1 h" },
	{ 3, "under 1 h", "1 to 6 h", "over 6 h" },         { 4, "under 6 h", "6 h to 1 day", "over 1 day" },
	{ 5, "under 1 day", "1 to 7 days", "over 7 days" },
};

/* The one that leaves a fifth of the time for what is old. */
static const struct age_cut *cut_of_age(double begun)
{
	static const double for_old = 0.8;
	size_t at = 0, last = sizeof age_cuts / sizeof *age_cuts - 1;
	while (at < last && jprof_age_band(age_cuts[at + 1].bands)->under < for_old * begun)
		at++;
	return &age_cuts[at];
}

enum { AGED_YOUNG, AGED_MIDDLE, AGED_OLD, AGED_STARTUP, AGED_FORK, AGED_PARTS };

/* "under 1 h 9 %, 1 to 6 h 43 %": the parts [from, to) that can be seen, of `all`. */
static void add_aged(struct jp_strbuf *text, const double parts[AGED_PARTS], double all, const struct age_cut *cut,
                     int from, int to)
{
	static const double least_shown = 0.005;
	const char *const words[] = { cut->young, cut->middle, cut->old, "from startup", "before the fork" };
	const char *between = "";
	for (int i = from; i < to; i++)
		if (parts[i] > least_shown * all) {
			jp_strbuf_printf(text, "%s%s %.0f %%", between, words[i], parts[i] * 100 / all);
			between = ", ";
		}
}

/* "begun 11.5 hours ago; under 1 h 9 %, 1 to 6 h 43 %, over 6 h 48 %". What has a part from the startup did not begin
 * when the rest of it came: "from startup 36 %; the rest came in the last 8 minutes: under 1 min 64 %". */
static void add_begun(struct answer *a, const struct jprof_grown *row)
{
	struct jp_strbuf text = { 0 };
	double parts[AGED_PARTS] = { 0 }, all = 0;
	if (!row->ages || isnan(row->begun))
		return;
	const struct age_cut *cut = cut_of_age(row->begun);
	for (size_t i = 0; i < JPROF_AGE_BANDS; i++) {
		double bytes = fmax(row->ages[i], 0);
		parts[i == JPROF_AGE_FORK      ? AGED_FORK
		      : i == JPROF_AGE_STARTUP ? AGED_STARTUP
		      : i > cut->bands         ? AGED_OLD
		      : i == cut->bands        ? AGED_MIDDLE
		                               : AGED_YOUNG] += bytes;
		all += bytes;
	}
	const struct measured begun = time_span(row->begun);
	add_aged(&text, parts, all, cut, AGED_STARTUP, AGED_PARTS);
	if (text.len)
		jp_strbuf_printf(&text, "; the rest came in the last %s: ", begun.text);
	else
		jp_strbuf_printf(&text, "begun %s ago; ", begun.text);
	add_aged(&text, parts, all, cut, AGED_YOUNG, AGED_STARTUP);
	add_made_detail(a, "age", &text);
}

static void add_sure(struct answer *a, const struct jprof_grown *row)
{
	struct jp_strbuf text = { 0 };
	if (isnan(row->chance) || !isfinite(row->distance))
		return;
	if (row->chance < 1e-6)
		jp_strbuf_printf(&text, "%.0f standard errors, from %.0f samples that changed: not by chance",
		                 row->distance, row->whole.range.samples);
	else
		jp_strbuf_printf(&text, "%.1f standard errors; by chance in 1 of %s reports in which nothing grew",
		                 row->distance, about_count(1 / row->chance).text);
	add_made_detail(a, "sure", &text);
}

/* What to do about a part that lies outside. */
static const char *remedy_of_part(enum jprof_part part, const struct diff_report *r)
{
	switch (part) {
	case JPROF_PART_GC_HEAP:
		return r->keepers.graph ? "jprof keepers of the last snapshot says what keeps its objects"
		       : jprof_series_objects(r->loaded->series)
		           ? "find what keeps them: jprof snap --objects, then jprof keepers"
		           : "jprof snap --objects counts what is in it, and says what keeps it";
	case JPROF_PART_KEPT: return "nothing leaks there: jprof explain says how to have it given back";
	case JPROF_PART_FRAGMENTATION: return "jprof explain says between which objects";
	case JPROF_PART_STACKS:
		return "look for threads that never end, and for fibers that are kept (Enumerator#next)";
	default: return "jprof explain says more";
	}
}

void diff_put_uncollected(FILE *out, const struct diff_report *r)
{
	const char *what = jprof_series_info(r->loaded->series)->counted
	                       ? "only a program that was started with jprof run collects it first"
	                   : r->live ? "start watch with --gc"
	                             : "take the snapshots with jprof snap --gc, or say --assume-gc where a GC ran";
	struct jp_strbuf text = { 0 };
	jp_strbuf_printf(&text, "Without GC what grew may be garbage that Ruby has not collected yet: %s.", what);
	answer_put_paragraph(out, &text, r->columns);
}

/* `kept`: it is known who keeps the objects; `of_keeper`: what to do about that, "" if nothing special. */
static void add_block_remedy(struct answer *a, const struct diff_report *r, const struct jprof_grown *row, bool kept,
                             const char *of_keeper)
{
	size_t snapshots = jprof_series_info(r->loaded->series)->snapshots;
	bool counted = jprof_series_info(r->loaded->series)->counted;
	if (row->verdict == JPROF_MAYBE_GARBAGE)
		add_block_detail(a, "do",
		                 counted
		                     ? "start the program with jprof run: snap --gc then has it collect garbage first"
		                 : r->live ? "start watch with --gc: then the snapshots hold no garbage"
		                           : "take the snapshots with jprof snap --gc: they hold no garbage");
	else if (row->part != JPROF_PART_LIVE)
		add_block_detail(a, "do", remedy_of_part(row->part, r));
	else if (!strcmp(row->name, JPROF_NO_CREATOR))
		add_block_detail(a, "do",
		                 "Ruby 3.3 or later shows the lines that make them, and so does "
		                 "ObjectSpace.trace_object_allocations_start");
	else if (row->verdict == JPROF_GROWING && snapshots < 3)
		add_block_detail(a, "do",
		                 r->live ? "wait for a third snapshot: of two a filling cache looks like a leak"
		                         : "take a third snapshot: of two a filling cache looks like a leak");
	else if (row->verdict == JPROF_ONE_JUMP)
		add_block_detail(
		    a, "do",
		    row->one_buffer ? "it came at once: look at what happened then. One buffer that fills, and doubles "
				      "now and then, looks the same"
				    : "it came at once, and stays: look at what happened then");
	else if (kept && *of_keeper)
		add_block_detail(a, "do", of_keeper);
	else if (row->remedy && !kept)
		add_block_detail(a, "do", row->remedy);
	else if (counted && r->options->by == BY_REFERRER && !*r->loaded->lines.text)
		add_block_detail(a, "do", "jprof diff without --by says which lines made them");
	else if (counted)
		add_block_detail(a, "do", "start the program with jprof run: then the lines that made them are known");
	else
		add_block_detail(
		    a, "do",
		    kept ? "look at what takes them out of there again. A cache that still fills looks the same"
			 : "Find what keeps them. A cache that still fills looks the same");
}

/* Where nothing of it can be found in the source: a part that lies outside, and what Ruby to 3.2 has moved. */
static bool has_no_place(const struct jprof_grown *row)
{
	return row->part != JPROF_PART_LIVE || !strcmp(row->name, JPROF_NO_CREATOR);
}

/* True if objects of the program may have filled a part: what jemalloc keeps and its gaps are what objects left. */
static bool is_filled(const struct jprof_grown *row)
{
	return row->part == JPROF_PART_LIVE || row->part == JPROF_PART_GC_HEAP || row->part == JPROF_PART_STACKS;
}

/* The first other line of source that grows, leak suspects before others; NULL: none does. */
static const struct jprof_grown *grown_beside(const struct jprof_series *series, const struct jprof_grown *block)
{
	const struct jprof_grown *row;
	for (size_t i = 0; (row = jprof_series_at(series, i)); i++)
		if (row != block && row->file && !has_no_place(row) &&
		    (row->verdict == JPROF_LEAK_SUSPECT || row->verdict == JPROF_GROWING))
			return row;
	return NULL;
}

/* Below what has no place: a line that grew, too. It may be what filled it. */
static void add_beside(struct answer *a, const struct diff_report *r, const struct jprof_grown *block)
{
	const struct jprof_grown *row = is_filled(block) ? grown_beside(r->loaded->series, block) : NULL;
	struct jp_strbuf text = { 0 };
	if (!row)
		return;
	jp_strbuf_printf(&text, "perhaps %s, which grew by %s", row->name,
	                 measure_in(r->measure, row->whole.growth).text);
	add_made_detail(a, "beside", &text);
}

/* Whether what a row lost may be what another one filled anew: in objects of one size class, and as much within both
 * errors. */
static bool may_be_refilled(const struct jprof_grown *lost, const struct jprof_grown *row)
{
	static const double same_class = 1.05;
	const struct jprof_range *a = &lost->whole.range, *b = &row->whole.range;
	double error = hypot(diff_half_interval(a), diff_half_interval(b));
	return lost->part == JPROF_PART_LIVE && lost->verdict == JPROF_SHRANK && lost->size > 0 && row->size > 0 &&
	       !a->few_samples && !b->few_samples &&
	       fmax(lost->size, row->size) < same_class * fmin(lost->size, row->size) &&
	       fabs(lost->whole.growth + row->whole.growth) <= error;
}

/* One line may fill a cache at first, and another refresh it: then nothing leaks. The verdict stays. */
static void add_refilled(struct answer *a, const struct diff_report *r, const struct jprof_grown *row)
{
	const struct jprof_grown *lost;
	struct jp_strbuf text = { 0 };
	size_t i = 0;
	while ((lost = jprof_series_at(r->loaded->series, i)) && !may_be_refilled(lost, row))
		i++;
	if (!lost)
		return;
	jp_strbuf_printf(&text, "perhaps it refreshes what %s filled, which lost as much, in objects of the same size",
	                 lost->name);
	add_made_detail(a, "beside", &text);
}

/* What the workers have of a suspect; of another row nothing is known. */
static struct worker_share share_of(const struct diff_report *r, const struct jprof_grown *row)
{
	const struct jprof_grown *suspect;
	for (size_t i = 0; i < diff_blocks && (suspect = diff_suspect(r->loaded->series, i)); i++)
		if (suspect == row)
			return r->shares[i];
	return (struct worker_share){ .master = NAN };
}

/* "libruby-3.1!0x24e160", "prog+0x10b0": no name, and nothing to look for. */
static bool is_address(const char *name, size_t len)
{
	size_t digits = len;
	while (digits && isxdigit((unsigned char)name[digits - 1]))
		digits--;
	return digits > 2 && digits < len && name[digits - 1] == 'x' && name[digits - 2] == '0' &&
	       strchr("+!", name[digits - 3]);
}

/* "main > load > parse": of the chain those that have a name; nothing where none has one. */
static void add_named_callers(struct answer *a, const char *path)
{
	static const char arrow[] = " > ";
	struct jp_strbuf text = { 0 };
	for (const char *end; *path; path = end + (*end ? strlen(arrow) : 0)) {
		end = strstr(path, arrow);
		end = end ? end : path + strlen(path);
		if (is_address(path, (size_t)(end - path)))
			continue;
		jp_strbuf_str(&text, text.len ? arrow : "");
		jp_strbuf_add(&text, path, (size_t)(end - path));
	}
	add_made_detail(a, "from", &text);
}

/* Where lines are few, the last one first: where it is, what it is beside and what to do stay. */
enum block_gives { GIVES_WHAT = 5, GIVES_TAGS, GIVES_PACE, GIVES_AGE, GIVES_SURE };

void diff_add_details(struct answer *a, const struct diff_report *r, const struct jprof_grown *row)
{
	const struct worker_share share = share_of(r, row);
	if (has_no_place(row))
		add_beside(a, r, row);
	else
		add_refilled(a, r, row);
	if (row->from) /* at once below a line of a gem: it is the application's */
		add_block_detail(a, "from", row->from);
	struct jp_strbuf jp_cleanup(jp_strbuf_release) of_keeper = { 0 };
	bool kept = row->part == JPROF_PART_LIVE && row->file && row->line &&
	            line_keepers_add(a, &r->keepers, row->file, row->line, &of_keeper);
	a->gives = GIVES_WHAT;
	if (row->part == JPROF_PART_GC_HEAP)
		add_heap_growth(a, r);
	else
		add_what(a, row);
	a->gives = GIVES_PACE;
	add_pace(a, r, row, &share);
	a->gives = GIVES_TAGS;
	add_tags(a, row);
	a->gives = 0;
	if (!row->from && row->path)
		add_named_callers(a, row->path);
	a->gives = GIVES_AGE;
	add_begun(a, row);
	add_fork_bound(a, r, row, &share);
	a->gives = GIVES_SURE;
	add_sure(a, row);
	a->gives = 0;
	add_block_remedy(a, r, row, kept, shortage_text(&of_keeper));
}

void diff_put_details(FILE *out, const struct diff_report *r, const struct jprof_grown *row)
{
	struct answer details = { 0 };
	diff_add_details(&details, r, row);
	answer_put_some(out, &details, r->columns, r->thrift > thrift_of_rows ? r->thrift - thrift_of_rows : 0);
	answer_release(&details);
}

/* What rows of the profile have less of, beyond their errors. */
static double freed_for_sure(const struct jprof_series *series)
{
	const struct jprof_grown *row;
	double freed = 0;
	for (size_t i = 0; (row = jprof_series_at(series, i)); i++)
		if (row->part == JPROF_PART_LIVE && !row->whole.range.within_error)
			freed += fmax(-row->whole.growth, 0);
	return freed;
}

/* Gaps are what was freed between objects that others keep. */
void diff_put_fragmentation(FILE *out, const struct diff_report *r)
{
	const struct jprof_series *series = r->loaded->series;
	const struct jprof_grown *row;
	struct jp_strbuf text = { 0 };
	double freed = freed_for_sure(series);
	size_t i = 0;
	while ((row = jprof_series_at(series, i)) && row->part != JPROF_PART_FRAGMENTATION)
		i++;
	if (!row || row->whole.growth < diff_least_outside || freed < diff_least_outside)
		return;
	jp_strbuf_printf(&text,
	                 "Fragmentation grew by %s: rows that shrank freed %s, and free places stay beside what "
	                 "others keep.",
	                 measure_in(r->measure, row->whole.growth).text, measure_in(r->measure, freed).text);
	answer_put_paragraph(out, &text, r->columns);
}
