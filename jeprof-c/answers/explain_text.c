#include "answers/explain_text.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "answers/explain_copied.h"
#include "answers/explain_words.h"
#include "answers/measure.h"
#include "answers/unreachable_text.h"
#include "cli/answer.h"
#include "cli/terminal.h"

#define RUN_LINE "   jprof run -- %-24s (in a container: --print-env=docker)\n"

/* How sure what was read is. */
static void add_what_was_seen(struct jp_strbuf *text, const struct jprof_heap_seen *seen)
{
	jp_strbuf_printf(text,
	                 seen->core ? "Read from a core (jemalloc %s), which has no text of programs."
	                            : "Read from outside (jemalloc %s), and the process ran on.",
	                 seen->jemalloc);
	if (seen->missing)
		jp_strbuf_printf(text,
		                 " The core was cut: %.1f MB of it are missing, and what lay there is not counted.",
		                 (double)seen->missing / mb);
	if (!seen->caches_known)
		jp_strbuf_str(text, " What is freed in the caches of threads counts as live here.");
	if (seen->torn)
		jp_strbuf_printf(text, " %llu of its runs of pages changed while they were read, and are left out.",
		                 (unsigned long long)seen->torn);
	if (seen->cut)
		jp_strbuf_str(text, " It has more than jprof reads: not all of it is counted.");
}

/* What /proc alone cannot say, and how to start the process so that it can be said. Who reads memory sees what there
 * is; who made it a profile alone knows. */
static void add_what_is_unknown(struct answer *a, const struct explained *what)
{
	const struct jprof_explained *anonymous = jprof_explain_at(what->explanation, 0);
	bool read = explain_part_of(what->explanation, JPROF_PART_LIVE);
	forks_add_line(a, what->forks);
	answer_add(a, ANSWER_NOTE);
	if (read) {
		const struct jprof_heap_seen *seen = &jprof_explain_info(what->explanation)->seen;
		add_what_was_seen(answer_add(a, ANSWER_MORE), seen);
		if (what->live && explain_part_of(what->explanation, JPROF_PART_GC_HEAP))
			jp_strbuf_str(answer_add(a, ANSWER_LINES), "Who keeps its Ruby objects: jprof keepers PID\n");
		if (seen->rate)
			jp_strbuf_printf(
			    answer_add(a, ANSWER_LINES), "It samples (prof:true): %s has its profile.\n%s",
			    seen->core ? "jprof explain -o FILE.jprof CORE" : "jprof snap PID",
			    seen->core ? "Ages there are from its first sample to its last, not to its end.\n" : "");
		jp_strbuf_printf(
		    answer_add(a, ANSWER_LINES),
		    seen->rate ? "Since when, and of Ruby which line and for which route, only a program that was\n"
				 "started like this can tell:\n\n" RUN_LINE
			       : "Which line made it, for which route, since when: only a program that was\n"
				 "started like this can tell:\n\n" RUN_LINE,
		    what->start);
		return;
	}
	const char *other = jprof_explain_info(what->explanation)->seen.malloc;
	if (*other) {
		bool of_libc = (!strcmp(other, "glibc") || !strcmp(other, "musl")) &&
		               explain_part_of(what->explanation, JPROF_PART_GC_HEAP);
		bool said = explain_part_of(what->explanation, JPROF_PART_KIND);
		jp_strbuf_printf(
		    answer_add(a, ANSWER_MORE),
		    "Read from outside, and the process ran on: %s. %s only in jemalloc. Which line made it, for which "
		    "route, since when: only a program that was started like this can tell:",
		    explain_part_of(what->explanation, JPROF_PART_V8) ? "how large V8's heap is" : "Ruby's own heap",
		    said      ? "jprof sees the rest of malloc's memory"
		    : of_libc ? "--by=referrer says what Ruby has of malloc's memory; jprof sees the rest"
			      : "jprof sees malloc's memory");
		jp_strbuf_printf(answer_add(a, ANSWER_LINES), "\n" RUN_LINE, what->start);
		return;
	}
	jp_strbuf_str(answer_add(a, ANSWER_MORE), what->outside);
	if (what->refused) { /* what there is to do is said, or nothing is */
		jp_strbuf_str(answer_add(a, ANSWER_LINES), what->remedy);
		return;
	}
	if (*what->why) {
		struct jp_strbuf *why = answer_add(a, ANSWER_MORE);
		jp_strbuf_str(why, "Why: it ");
		jp_strbuf_visible(why, what->why);
		jp_strbuf_str(why, ".");
	}
	struct jp_strbuf *text = answer_add(a, ANSWER_MORE);
	if (anonymous && anonymous->part == JPROF_PART_ANONYMOUS)
		jp_strbuf_printf(text, "What the %.1f MB of anonymous memory hold", anonymous->bytes / mb);
	else
		jp_strbuf_str(text, "What its memory holds");
	jp_strbuf_str(text,
	              " cannot be seen in a process that was started without profiling: live objects and whose "
	              "they are, Ruby's GC heap, fragmentation, freed pages. Start it again, or one canary of it, "
	              "like this:");
	jp_strbuf_printf(answer_add(a, ANSWER_LINES),
	                 "\n" RUN_LINE "\nand then:   jprof snap %s    (now, and again in an hour)\n", what->start,
	                 strstr(what->start, "puma") ? "--puma --gc" : "PID");
}

/* A bound: what a worker has freed since is not shared any more either, and the master may have grown. */
static void add_sharing(struct answer *a, const struct jprof_explain_info *info)
{
	if (info->before_fork > info->still_shared)
		jp_strbuf_printf(
		    answer_add(a, ANSWER_NOTE),
		    "Copy-on-write: of %.0f MB that the master has, and made before the fork for the most part, "
		    "%s still shares %.0f MB; at most %.0f MB have been copied%s.",
		    info->before_fork / mb, info->workers > 1 ? "a worker" : "its worker", info->still_shared / mb,
		    (info->before_fork - info->still_shared) / mb, info->workers > 1 ? " in each of them" : "");
	else if (info->processes > 1 && info->shared > 0)
		jp_strbuf_printf(answer_add(a, ANSWER_NOTE),
		                 "Copy-on-write: %.0f MB of the processes' memory are still shared since the fork.",
		                 info->shared / mb);
}

/* Ruby 3.2 and later has slots of up to 640 bytes. */
static bool has_large_slots(const char *ruby)
{
	unsigned major, minor;
	return sscanf(ruby, "%2u.%2u", &major, &minor) == 2 && (major > 3 || (major == 3 && minor >= 2));
}

/* Of one process with its pid. */
static void add_heap_hint(struct jp_strbuf *lines, const struct explained *what)
{
	bool one = *what->members && strspn(what->members, "0123456789") == strlen(what->members);
	bool large = has_large_slots(jprof_explain_info(what->explanation)->settings.ruby);
	if (explain_part_of(what->explanation, JPROF_PART_OBJECT_TYPE))
		jp_strbuf_str(lines, "\nNot in any profile: which lines made the objects in Ruby's GC heap.\n"
		                     "Who made and who keeps them: jprof keepers --help\n");
	else
		jp_strbuf_printf(lines,
		                 "\nNot in any profile: Ruby's GC heap (objects%s).\n"
		                 "To see what is in it: jprof snap --objects%s%s\n",
		                 large ? ", and strings of up to 640 bytes" : "", one ? " " : "",
		                 one ? what->members : "");
}

/* What is in no profile, and what would tell more. */
static void add_explain_end(struct answer *a, const struct explained *what)
{
	const struct jprof_explain_info *info = jprof_explain_info(what->explanation);
	add_sharing(a, info);
	forks_add_line(a, what->forks);
	struct jp_strbuf *lines = answer_add(a, ANSWER_LINES);
	if (explain_part_of(what->explanation, JPROF_PART_GC_HEAP))
		add_heap_hint(lines, what);
	else if (what->ruby || *info->settings.ruby)
		jp_strbuf_str(lines,
		              "\nNot known: Ruby's GC heap, for Ruby slept and was not asked: snap with --gc.\n");
	if (*what->gems)
		jp_strbuf_printf(lines, "\nOf which gem the compiled code is:\n%s\n", what->gems);
	if (*what->lines)
		jp_strbuf_printf(lines, "\nTo have lines of Ruby: %s\n", what->lines);
	if (isnan(info->total))
		jp_strbuf_str(lines, "\nRSS, fragmentation, freed pages, thread stacks and files are not in a dump.\n"
		                     "To see them: jprof snap PID, and then jprof explain of that file\n");
}

enum { most_places = 3 };

/* What gives way where lines are few, the last one first: a table has no line without those that it is about. */
enum explain_gives {
	GIVES_NOT,
	GIVES_MIDDLE,     /* rows of the table below 25 %, */
	GIVES_SMALL,      /* below 5 %, */
	GIVES_TINY,       /* and below 2 % */
	GIVES_FIRST_HELP, /* the control group, own classes, the first advice */
	GIVES_LARGE_PART, /* rows below those rows: of 5 % or more, */
	GIVES_HELPS,      /* more advice */
	GIVES_LIST,       /* the first rows of lists, */
	GIVES_PART,       /* and other rows of parts */
	GIVES_REMARKS,
	GIVES_WHY, /* reasons, other rows of lists, and rows of 0.0 MB */
};

static void add_count(struct jp_strbuf *text, double count)
{
	jp_strbuf_grouped(text, (uint64_t)llround(count), 0);
}

/* Whether it is 0.0 MB. */
static bool shows_nothing(double bytes)
{
	return fabs(bytes) < 0.05 * mb;
}

/* ---- the head ---------------------------------------------------------------------------------------------- */

/* Growth is spoken of where chance alone would not make it. */
static bool grows(const struct jprof_explain_info *info)
{
	return !isnan(info->growth) && info->growth > (isnan(info->error) ? 0 : info->error) && info->growth > 0;
}

static void add_group(struct answer *a, const struct jprof_explain_info *info)
{
	const struct jprof_group *g = &info->group;
	if (!g->known)
		return;
	struct jp_strbuf *text = answer_add(a, ANSWER_SENTENCE);
	jp_strbuf_printf(text, "Its control group has %.0f MB", g->current / mb);
	if (isfinite(g->limit) && g->limit > 0)
		jp_strbuf_printf(text, " of %.0f MB (%.0f %%)", g->limit / mb, g->current * 100 / g->limit);
	else
		jp_strbuf_str(text, ", and no limit");
	if (!isnan(g->cache))
		jp_strbuf_printf(text, "; %.0f MB of that are page cache", g->cache / mb);
	if (!isnan(g->anon) && g->anon - info->total > 0)
		jp_strbuf_printf(text, ", %.0f MB other processes", (g->anon - info->total) / mb);
	jp_strbuf_str(text, ".");
}

static void add_explain_head(struct answer *a, const struct explained *what)
{
	const struct jprof_explain_info *info = jprof_explain_info(what->explanation);
	struct jp_strbuf *text = answer_add(a, ANSWER_HEAD);
	if (what->live)
		jp_strbuf_visible(text, what->path);
	else
		jp_strbuf_str(text, what->whose);
	if (!what->live && info->processes == 1 && isdigit((unsigned char)*what->members)) {
		jp_strbuf_str(text, " (");
		jp_strbuf_visible(text, what->members);
		jp_strbuf_str(text, ")");
	}
	if (info->dumpless && !*info->seen.malloc && !explain_part_of(what->explanation, JPROF_PART_LIVE))
		jp_strbuf_printf(text, "; %s without a profile", info->processes > 1 ? "they run" : "it runs");
	else if (!isnan(info->total)) {
		struct measure m = measure_for(info->total); /* as the answer has it */
		if (what->answer && m.bytes == mb)
			jp_strbuf_printf(text, ": %s MB", measure_number(m, info->total).text);
		else
			jp_strbuf_printf(text, ": %.1f MB", info->total / mb);
	}
	const struct jprof_explained *live = explain_part_of(what->explanation, JPROF_PART_LIVE);
	bool several = explain_part_of(what->explanation, JPROF_PART_SHARED); /* times in malloc's */
	if (live && isfinite(info->total))
		jp_strbuf_printf(text, several ? "; malloc gave %.1f" : ", %.1f of it in malloc", live->bytes / mb);
	if (live && isfinite(info->group.limit) && info->group.known)
		jp_strbuf_printf(text, "; the limit is %.0f MB", info->group.limit / mb);
	if (!what->answer) /* which names the line that grew */
		jp_strbuf_printf(text, "%s%s", *what->biggest ? ". " : "", what->biggest);
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

/* What shares are of: all memory, in which what several processes share counts once. */
static double whole_of(const struct jprof_explanation *e)
{
	return jprof_explain_info(e)->total;
}

/* What a part is, behind its size. */
static const char *verb_of(const struct explained *what, enum jprof_part part)
{
	bool ruby = what->ruby || *jprof_explain_info(what->explanation)->settings.ruby;
	bool known = explain_part_of(what->explanation, JPROF_PART_GC_HEAP);
	if (part == JPROF_PART_STACKS && ruby)
		return "are stacks of threads and fibers";
	return part == JPROF_PART_PAST && ruby && !known ? "are Ruby's GC heap, and what else was mapped past malloc"
	                                                 : words_of_part(part)->verb;
}

/* What it has, or by how much it grew. */
static double bytes_or_growth(const struct jprof_explained *row, bool single)
{
	return single ? row->bytes : row->growth;
}

/* The size class with most of the free places, or whose free places grew most; NULL: there is none. */
static const struct jprof_explained *worst_class(const struct jprof_explanation *e, bool single)
{
	const struct jprof_explained *row, *worst = NULL;
	for (size_t i = 0; (row = jprof_explain_at(e, i)); i++)
		if (row->part == JPROF_PART_SIZE_CLASS && bytes_or_growth(row, single) > 0 &&
		    (!worst || bytes_or_growth(row, single) > bytes_or_growth(worst, single)))
			worst = row;
	return worst;
}

/* Where fragmentation is a fifth of what grew, or of one snapshot of the memory: its class, and who lies there. */
static void add_worst_class(struct jp_strbuf *text, const struct jprof_explanation *e)
{
	static const double much = 0.2;
	const struct jprof_explain_info *info = jprof_explain_info(e);
	bool single = isnan(info->growth);
	const struct jprof_explained *part = explain_part_of(e, JPROF_PART_FRAGMENTATION),
				     *class = worst_class(e, single);
	double all = single ? whole_of(e) : info->growth;
	if (!part || !class || !*class->tenants || (!single && !grows(info)) ||
	    !(bytes_or_growth(part, single) >= much * all))
		return;
	const char *others = strstr(class->tenants, " %, ");
	jp_strbuf_printf(text,
	                 "Fragmentation %s %.1f MB, %.1f MB of that between objects of %llu bytes; there lie now: ",
	                 single ? "is" : "grew by", bytes_or_growth(part, single) / mb,
	                 bytes_or_growth(class, single) / mb, (unsigned long long)class->object_size);
	jp_strbuf_visible_bytes(text, class->tenants,
	                        others ? (size_t)(others - class->tenants) + 2 : strlen(class->tenants));
	jp_strbuf_str(text, ". ");
}

/* The program's own classes: as many as two lines have room for. */
static void add_own_classes(struct answer *a, const struct jprof_explanation *e)
{
	enum { most_own = 5, room = 160 };
	const struct jprof_explained *row;
	struct jp_strbuf *text = NULL;
	size_t begin = 0;
	for (int i = 0, named = 0; (row = jprof_explain_at(e, (size_t)i)) && named < most_own; i++) {
		size_t len = text ? text->len - begin : 0;
		if (!row->own || len + strlen(row->name) + strlen(", 99,999,999 objects (999.9 MB)") > room)
			continue;
		text = text ? text : answer_add(a, ANSWER_NOTE);
		begin = named ? begin : text->len;
		jp_strbuf_str(text, named ? ", " : "Your classes: ");
		jp_strbuf_visible(text, row->name);
		jp_strbuf_str(text, " ");
		add_count(text, row->objects);
		jp_strbuf_printf(text, named++ ? " (%.1f MB)" : " objects (%.1f MB of slots)", row->bytes / mb);
	}
	if (text)
		jp_strbuf_str(text, ".");
}

static const double much_untouched = 0.2; /* of all memory: from here on it is said at once */

static void add_sentence(struct answer *a, const struct explained *what)
{
	const struct jprof_explanation *e = what->explanation;
	const struct jprof_explained *row;
	bool known = !isnan(whole_of(e));
	if (!known && !what->answer)
		return;
	struct jp_strbuf *text = answer_add(a, ANSWER_SENTENCE);
	if (what->answer)
		jp_strbuf_printf(text, "%s%s", what->answer, known ? " " : "");
	if (known)
		add_worst_class(text, e);
	for (int i = 0; known && i < most_places && (row = largest_part(e, i)); i++)
		jp_strbuf_printf(text, "%s%.1f MB (%.0f %%) %s", i ? ", " : "", row->bytes / mb,
		                 row->bytes * 100 / whole_of(e), verb_of(what, row->part));
	if (known && jprof_explain_count(e))
		jp_strbuf_str(text, ".");
	const struct jprof_explained *untouched = explain_part_of(e, JPROF_PART_UNTOUCHED);
	if (untouched && -untouched->bytes >= much_untouched * whole_of(e))
		jp_strbuf_printf(text, " %.1f MB of what is counted were never touched, and take no memory.",
		                 -untouched->bytes / mb);
}

/* ---- the table --------------------------------------------------------------------------------------------- */

static const double least_padding = 0.5; /* of fragmentation: then it is what there is to say of it */

/* The i-th row, if it is a size class. */
static const struct jprof_explained *class_behind(const struct jprof_explanation *e, size_t i)
{
	const struct jprof_explained *row = jprof_explain_at(e, i);
	return row && row->part == JPROF_PART_SIZE_CLASS ? row : NULL;
}

/* What stands behind the words of a part: its own parts, in few words. */
static void add_detail(struct jp_strbuf *text, const struct jprof_explanation *e, size_t at)
{
	const struct jprof_explained *row = jprof_explain_at(e, at), *next = jprof_explain_at(e, at + 1);
	if (!next || !next->depth)
		return;
	if (row->part == JPROF_PART_GC_HEAP && next->part == JPROF_PART_GC_OBJECTS)
		jp_strbuf_printf(text, ": %.1f in objects, %.1f in free slots", next->bytes / mb,
		                 jprof_explain_at(e, at + 2)->bytes / mb);
	else if (row->part == JPROF_PART_FRAGMENTATION && next->part == JPROF_PART_PADDING &&
	         next->bytes >= least_padding * row->bytes)
		jp_strbuf_printf(text, ": %.1f of it are %s", next->bytes / mb, words_of_part(next->part)->words);
	else if (row->part == JPROF_PART_FRAGMENTATION &&
	         (next->part == JPROF_PART_SIZE_CLASS || (next = class_behind(e, at + 2))))
		jp_strbuf_printf(text, ": %.1f of it in objects of %llu bytes", next->bytes / mb,
		                 (unsigned long long)next->object_size);
	else if (row->part == JPROF_PART_PROFILER)
		jp_strbuf_printf(text, ": %s", words_of_part(next->part)->words);
	else if (row->part == JPROF_PART_METADATA)
		jp_strbuf_printf(text, ": %.1f %s", next->bytes / mb, words_of_part(next->part)->words);
}

/* The groups of a kind. */
static void add_groups(struct answer *a, const struct jprof_explanation *e, size_t first)
{
	const struct jprof_explained *row;
	for (size_t i = first; (row = jprof_explain_at(e, i)) && row->depth == 2; i++)
		jp_strbuf_visible(answer_add_value(a, ANSWER_ENTRY, row->bytes), row->name);
}

/* The words of a row, where they depend on what else is known. */
static void add_part_words(struct jp_strbuf *text, const struct explained *what, const struct jprof_explained *row)
{
	const struct jprof_explain_info *info = jprof_explain_info(what->explanation);
	bool single = info->processes == 1 && info->shared >= 0.05 * mb;
	if (row->part == JPROF_PART_TOTAL && info->processes > 1)
		jp_strbuf_printf(text, "sum of Pss of %u processes; shared memory counts once", info->processes);
	else if (row->part == JPROF_PART_TOTAL && info->seen.core)
		jp_strbuf_str(text, "in the core, without pages of zeros but those of small blocks");
	else if (row->part == JPROF_PART_TOTAL && single)
		jp_strbuf_printf(text, "RSS; %.1f of it is shared with other processes since a fork",
		                 info->shared / mb);
	else if (row->part == JPROF_PART_ANONYMOUS && *info->seen.malloc)
		jp_strbuf_printf(text,
		                 info->seen.arenas > 1 ? "malloc memory (%s, %u arenas), and what else was mapped"
		                                       : "malloc memory (%s), and what else was mapped",
		                 info->seen.malloc, info->seen.arenas);
	else if (row->part == JPROF_PART_ANONYMOUS && what->ruby)
		jp_strbuf_str(text, "anonymous memory: malloc and Ruby's GC heap together");
	else if (row->part == JPROF_PART_PAST && (what->ruby || *info->settings.ruby) &&
	         !explain_part_of(what->explanation, JPROF_PART_GC_HEAP))
		jp_strbuf_str(text, "Ruby's GC heap, and what else was mapped past malloc");
	else if (row->part == JPROF_PART_STACKS && (what->ruby || *info->settings.ruby))
		jp_strbuf_str(text, "stacks of threads and fibers");
	else if (row->part == JPROF_PART_KIND)
		jp_strbuf_visible(text, row->name);
	else if (row->part == JPROF_PART_LIVE && !isnan(row->objects)) {
		jp_strbuf_str(text, "live malloc memory, ");
		add_count(text, row->objects);
		jp_strbuf_str(text, " blocks");
	} else
		jp_strbuf_str(text, words_of_part(row->part)->words);
}

static double half_of_range(const struct jprof_range *range)
{
	return isnan(range->error) ? NAN : (range->high - range->low) / 2;
}

static void add_part_row(struct answer *a, const struct explained *what, size_t at, bool growth)
{
	const struct jprof_explanation *e = what->explanation;
	const struct jprof_explain_info *info = jprof_explain_info(e);
	const struct jprof_explained *row = jprof_explain_at(e, at);
	bool after_sum = info->processes > 1 && (row->part == JPROF_PART_SHARED || row->part == JPROF_PART_TOTAL),
	     has_share = !row->depth && !after_sum;
	answer_add(a, ANSWER_ROW);
	answer_add_value(a, ANSWER_AMOUNT, row->bytes);
	answer_add_value(a, ANSWER_SHARE, has_share ? row->bytes * 100 / whole_of(e) : NAN);
	if (growth)
		answer_add_value(a, ANSWER_GROWTH, row->growth);
	struct jp_strbuf *text = answer_add_value(a, ANSWER_WORDS, half_of_range(&row->range));
	jp_strbuf_printf(text, "  %*s", (int)row->depth * 2, "");
	add_part_words(text, what, row);
	if (row->part == JPROF_PART_NOT_EXPLAINED && row->bytes < 0 && !shows_nothing(row->bytes))
		jp_strbuf_str(text, " (below 0: parts above were never touched)");
	if (row->part == JPROF_PART_KIND)
		add_groups(a, e, at + 1);
	else
		add_detail(answer_add(a, ANSWER_WORDS), e, at);
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

/* By what it has, or by how much that grew. */
static enum explain_gives row_gives(const struct jprof_explanation *e, const struct jprof_explained *row)
{
	static const double middle = 0.25, large = 0.05, tiny = 0.02;
	const struct jprof_explain_info *info = jprof_explain_info(e);
	double share = fabs(row->bytes) / whole_of(e);
	if (grows(info) && !isnan(row->growth))
		share = fmax(share, row->growth / info->growth);
	if (row->part == JPROF_PART_TOTAL || isnan(share))
		return GIVES_NOT;
	if (shows_nothing(row->bytes) && (isnan(row->growth) || shows_nothing(row->growth)))
		return GIVES_WHY;
	if (row->depth)
		return share < large ? GIVES_PART : GIVES_LARGE_PART;
	return share < tiny ? GIVES_TINY : share < large ? GIVES_SMALL : share < middle ? GIVES_MIDDLE : GIVES_NOT;
}

static void add_part_table(struct answer *a, const struct explained *what)
{
	const struct jprof_explanation *e = what->explanation;
	bool growth = false;
	for (size_t i = 0; i < jprof_explain_count(e); i++)
		growth = growth || !isnan(jprof_explain_at(e, i)->growth);
	jp_strbuf_printf(answer_add(a, ANSWER_TABLE), "     MB %s%s  where", isnan(whole_of(e)) ? "      " : " share",
	                 growth ? "  growth" : "");
	for (size_t i = 0; i < jprof_explain_count(e); i++)
		if (has_row_of_its_own(e, jprof_explain_at(e, i))) {
			a->gives = row_gives(e, jprof_explain_at(e, i));
			add_part_row(a, what, i, growth);
		}
	a->gives = 0;
}

/* ---- rows of one part ---------------------------------------------------------------------------------------- */

struct list_of_part {
	enum jprof_part part;
	int most;
	double least; /* bytes of a row */
	void (*put)(struct jp_strbuf *text, const struct jprof_explained *row);
	const char *heading;
};

static void add_list(struct answer *a, const struct jprof_explanation *e, const struct list_of_part *list)
{
	const struct jprof_explained *row;
	int put = 0;
	for (size_t i = 0; (row = jprof_explain_at(e, i)) && put < list->most; i++) {
		if (row->part != list->part || row->bytes < list->least)
			continue;
		a->gives = put < most_places ? GIVES_LIST : GIVES_WHY;
		if (!put++)
			jp_strbuf_str(answer_add(a, ANSWER_TABLE), list->heading);
		answer_add(a, ANSWER_ROW);
		answer_add_value(a, ANSWER_AMOUNT, row->bytes);
		struct jp_strbuf *text = answer_add(a, ANSWER_WORDS);
		jp_strbuf_str(text, " MB  ");
		list->put(text, row);
	}
}

static void put_size_class(struct jp_strbuf *text, const struct jprof_explained *row)
{
	jp_strbuf_printf(text, "%llu bytes", (unsigned long long)row->object_size);
	if (!isnan(row->growth))
		jp_strbuf_printf(text, " (%+.1f)", row->growth / mb);
	jp_strbuf_str(text, *row->tenants ? ": " : "");
	jp_strbuf_visible(text, row->tenants);
}

static void put_free_owner(struct jp_strbuf *text, const struct jprof_explained *row)
{
	jp_strbuf_visible(text, row->name);
}

static void put_live_object(struct jp_strbuf *text, const struct jprof_explained *row)
{
	if (!isnan(row->growth))
		jp_strbuf_printf(text, "%+8.1f MB  ", row->growth / mb);
	jp_strbuf_visible(text, row->name);
	jp_strbuf_printf(text, " (%.0f", row->objects);
	if (!isnan(row->objects_growth))
		jp_strbuf_printf(text, ", %+.0f", row->objects_growth);
	jp_strbuf_str(text, ")");
}

/* Ruby's objects where they were counted: those with most slots, or whose slots grew most; and the free places: the
 * size classes with more than a tenth of them, and whose they are as far as that is known. */
static void add_lists(struct answer *a, const struct explained *what)
{
	enum { most_kinds = 8 };
	const double shown = mb / 20;
	const struct jprof_explained *gaps = explain_part_of(what->explanation, JPROF_PART_FRAGMENTATION);
	const struct list_of_part lists[] = {
		{ JPROF_PART_OBJECT_TYPE, most_kinds, shown, put_live_object,
		  "Objects in Ruby's GC heap, by type (slots, number)" },
		{ JPROF_PART_OBJECT_CLASS, most_kinds, shown, put_live_object, "and by class" },
		{ JPROF_PART_SIZE_CLASS, most_places, gaps ? gaps->bytes / 10 : 0, put_size_class,
		  "Free places between objects of one size, and whose objects lie there now" },
		{ JPROF_PART_FREE_OWNER, most_places, shown, put_free_owner,
		  what->accumulated ? "Free places by who freed the objects that lay there"
		                    : "Free places of size classes that one owner alone is in" },
	};
	for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
		add_list(a, what->explanation, &lists[i]);
	a->gives = 0;
}

/* ---- what would help ----------------------------------------------------------------------------------------- */

static void add_helps(struct answer *a, const struct jprof_explanation *e)
{
	const struct jprof_help *help;
	for (size_t i = 0; (help = jprof_explain_help(e, i)); i++) {
		struct help_words words = words_of_help(help, &jprof_explain_info(e)->settings);
		char saves[64];
		snprintf(saves, sizeof saves, "%s%.0f MB", help->part ? "part of " : "", help->saves / mb);
		a->gives = i ? GIVES_HELPS : GIVES_FIRST_HELP;
		if (!i)
			jp_strbuf_printf(answer_add(a, ANSWER_TABLE), "%-66s%14s", "What would help, in this order",
			                 "saves about");
		jp_strbuf_printf(answer_add(a, ANSWER_LINES), "%zu  %-63s%14s\n", i + 1, words.what, saves);
		a->gives = GIVES_WHY;
		jp_strbuf_printf(answer_add(a, ANSWER_LINES), "   why: %s\n", words.why);
	}
	a->gives = 0;
}

/* Where it is worth a line. */
static void add_unreachable_sentence(struct answer *a, const struct explained *what)
{
	static const double least = 0.01, least_bytes = mb;
	const struct jprof_explained *lost = explain_part_of(what->explanation, JPROF_PART_UNREACHABLE),
				     *live = explain_part_of(what->explanation, JPROF_PART_LIVE);
	if (!lost || lost->bytes < least_bytes || (live && lost->bytes < least * live->bytes))
		return;
	struct jp_strbuf *text = answer_add(a, ANSWER_SENTENCE);
	jp_strbuf_printf(text, "No pointer was found to %.1f MB of live malloc memory, ", lost->bytes / mb);
	add_count(text, lost->objects);
	jp_strbuf_str(text, " blocks");
	if (lost->object_size)
		jp_strbuf_printf(text, ", most of it in those of %llu bytes", (unsigned long long)lost->object_size);
	jp_strbuf_str(text, *what->lost_next ? ":" : ".");
	if (*what->lost_next)
		jp_strbuf_printf(answer_add(a, ANSWER_LINES), "   %s\n", what->lost_next);
}

void explain_answer(struct answer *a, const struct explained *what)
{
	add_explain_head(a, what);
	if (what->unreachable && explain_part_of(what->explanation, JPROF_PART_UNREACHABLE)) {
		unreachable_add(a, what);
		return;
	}
	add_sentence(a, what);
	add_unreachable_sentence(a, what);
	a->gives = GIVES_FIRST_HELP;
	add_group(a, jprof_explain_info(what->explanation));
	add_own_classes(a, what->explanation);
	a->gives = 0;
	add_part_table(a, what);
	add_lists(a, what);
	add_helps(a, what->explanation);
	bool dumpless = jprof_explain_info(what->explanation)->dumpless;
	a->gives = dumpless ? GIVES_HELPS : GIVES_REMARKS;
	(dumpless ? add_what_is_unknown : add_explain_end)(a, what);
	a->gives = 0;
}
