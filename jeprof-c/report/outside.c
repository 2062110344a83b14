#include "report/outside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double megabyte = 1048576;

static struct jp_strbuf *next_words(struct jp_strbuf *text)
{
	jp_strbuf_str(text, text->len ? "; " : "");
	return text;
}

/* "RssAnon grew by 130 MB", "RssAnon of 3 processes is 130 MB"; of a difference `base` is what there was, else 0. */
static void add_figure(struct jp_strbuf *text, const char *what, double now, double base, bool difference)
{
	const char *verb = difference ? now < base ? "shrank by" : "grew by" : strncmp(what, "Ruby", 4) ? "is" : "has";
	jp_strbuf_printf(next_words(text), "%s %s %.1f MB", what, verb, fabs(now - base) / megabyte);
}

/* How much of that the profile has. Where it has more than there is, it does not say "of it": jemalloc may have given
 * back pages that a sample stands for. */
static void add_part(struct jp_strbuf *text, double part, double whole, bool difference)
{
	next_words(text);
	if (part >= 0 && part <= whole)
		jp_strbuf_printf(text, "%.1f MB of it are in this profile", part / megabyte);
	else if (difference)
		jp_strbuf_printf(text, "what this profile sees %s by %.1f MB", part < 0 ? "shrank" : "grew",
		                 fabs(part) / megabyte);
	else
		jp_strbuf_printf(text, "this profile has %.1f MB", part / megabyte);
}

static const char *rss_words(const struct jprof_outside *now, char words[64])
{
	if (now->processes < 2)
		return "RssAnon";
	snprintf(words, 64, "RssAnon of %u processes", now->processes);
	return words;
}

/* What the allocator has beside live objects. */
static const struct {
	enum jprof_part part;
	const char *words, *brief;
} other_parts[] = { { JPROF_PART_KEPT, "what was freed and jemalloc keeps", "freed and kept" },
	            { JPROF_PART_FRAGMENTATION, "fragmentation", "fragmentation" },
	            { JPROF_PART_METADATA, "jemalloc's metadata", "metadata" },
	            { JPROF_PART_PROFILER, "the profiler itself", "profiler" } };

/* Adds them by the figures of an explanation; how many are said. */
static unsigned add_overhead_figures(struct jp_strbuf *text, const struct loaded *l)
{
	unsigned said = 0;
	for (size_t i = 0; i < sizeof other_parts / sizeof *other_parts; i++) {
		double now = jprof_profile_part(l->profile, false, other_parts[i].part),
		       base = l->difference ? jprof_profile_part(l->profile, true, other_parts[i].part) : 0;
		if (isnan(now - base) || fabs(now - base) < megabyte)
			continue;
		add_figure(text, other_parts[i].words, now, base, l->difference);
		said++;
	}
	return said;
}

/* What of Ruby's GC heap is in no row: all of it, or what lies beside the objects that were sampled. */
struct gc_words {
	const char *words;
	double now, base;
};

static struct gc_words outside_gc_heap(const struct loaded *l, const struct jprof_outside *now,
                                       const struct jprof_outside *base)
{
	double rest = jprof_profile_part(l->profile, false, JPROF_PART_GC_REST);
	if (isnan(rest))
		return (struct gc_words){ "Ruby's GC heap", now->gc_heap, base->gc_heap };
	return (struct gc_words){ "the rest of Ruby's GC heap", rest,
		                  l->difference ? jprof_profile_part(l->profile, true, JPROF_PART_GC_REST) : 0 };
}

void outside_line(const struct loaded *l, bool rss_is_said, struct jp_strbuf *to)
{
	struct jprof_outside now, base;
	char words[64];
	double part = jprof_profile_total(l->profile, JPROF_INUSE_SPACE);
	jprof_profile_outside(l->profile, false, &now);
	jprof_profile_outside(l->profile, true, &base);
	bool difference = l->difference, comparable = !difference || now.processes == base.processes;
	if (!now.processes || !comparable)
		return;
	if (!difference)
		base = (struct jprof_outside){ 0 };
	const struct gc_words gc = outside_gc_heap(l, &now, &base);
	double rss = rss_is_said ? NAN : now.rss_anon - base.rss_anon, heap = gc.now - gc.base;
	if (!isnan(rss)) {
		add_figure(to, rss_words(&now, words), now.rss_anon, base.rss_anon, difference);
		add_part(to, part, rss, difference);
	}
	if (!isnan(heap))
		add_figure(to, gc.words, gc.now, gc.base, difference);
	unsigned counted = add_overhead_figures(to, l) + !isnan(heap);
	if (isnan(rss) && counted)
		jp_strbuf_str(next_words(to),
		              counted > 1 ? "none of these is in this profile" : "it is not in this profile");
}

void outside_total_of(const struct loaded *l, struct jp_strbuf *to)
{
	struct jprof_outside now;
	jprof_profile_outside(l->profile, false, &now);
	if (now.processes < 2)
		return;
	jp_strbuf_printf(to, "in %u processes, each counted whole", now.processes);
	if (now.related)
		jp_strbuf_printf(to, "; what they share since the fork counts %u times", now.processes);
	if (!isnan(now.pss) && !l->difference)
		jp_strbuf_printf(to, " (sum of Pss %.0f MB)", now.pss / megabyte);
}

/* "Not in it: Ruby's GC heap 51.8 MB, freed 17.6, fragmentation 5.7": what is worth it, in one line. */
static void add_other_parts(struct jp_strbuf *to, const struct loaded *l, const struct jprof_outside *now)
{
	const struct gc_words gc = outside_gc_heap(l, now, now);
	if (gc.now >= megabyte)
		jp_strbuf_printf(to, "Not in it: %s %.1f MB", gc.words, gc.now / megabyte);
	for (size_t i = 0; i < sizeof other_parts / sizeof *other_parts; i++) {
		double bytes = jprof_profile_part(l->profile, false, other_parts[i].part);
		if (bytes >= megabyte)
			jp_strbuf_printf(to, "%s%s %.1f%s", to->len ? ", " : "Not in it: ", other_parts[i].brief,
			                 bytes / megabyte, to->len ? "" : " MB");
	}
	jp_strbuf_str(to, to->len ? "\n" : "");
}

void outside_notes(const struct loaded *l, struct jp_strbuf *to)
{
	struct jprof_outside now;
	jprof_profile_outside(l->profile, false, &now);
	if (l->difference)
		outside_line(l, false, to);
	else if (now.processes)
		add_other_parts(to, l, &now);
	if (now.processes > 1 && now.related && !l->difference)
		jp_strbuf_printf(to, "Each process counts whole: what they share since the fork counts %u times\n",
		                 now.processes);
}
