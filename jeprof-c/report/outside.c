#include "report/outside.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double megabyte = 1048576;

static void add_words(char text[outside_most], const char *words)
{
	size_t len = strlen(text);
	snprintf(text + len, outside_most - len, "%s%s", len ? "; " : "", words);
}

static double grown(double now, double base)
{
	return now - base;
}

/* "RssAnon grew by 130 MB", "RssAnon of 3 processes is 130 MB"; of a difference `base` is what there was, else 0. */
static void add_figure(char text[outside_most], const char *what, double now, double base, bool difference)
{
	char words[outside_most];
	double change = grown(now, base);
	if (!difference)
		snprintf(words, sizeof words, "%s %s %.1f MB", what, strncmp(what, "Ruby", 4) ? "is" : "has",
		         now / megabyte);
	else
		snprintf(words, sizeof words, "%s %s by %.1f MB", what, change < 0 ? "shrank" : "grew",
		         fabs(change) / megabyte);
	add_words(text, words);
}

/* How much of that the profile has. Where it has more than there is, it does not say "of it": jemalloc may have given
 * back pages that a sample stands for. */
static void add_part(char text[outside_most], double part, double whole, bool difference)
{
	char words[outside_most];
	if (part >= 0 && part <= whole)
		snprintf(words, sizeof words, "%.1f MB of it are in this profile", part / megabyte);
	else if (difference)
		snprintf(words, sizeof words, "what this profile sees %s by %.1f MB", part < 0 ? "shrank" : "grew",
		         fabs(part) / megabyte);
	else
		snprintf(words, sizeof words, "this profile has %.1f MB", part / megabyte);
	add_words(text, words);
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
static unsigned add_overhead_figures(char text[outside_most], const struct loaded *l)
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

bool outside_line(const struct loaded *l, bool rss_is_said, char text[outside_most])
{
	struct jprof_outside now, base;
	char words[64];
	double part = jprof_profile_total(l->profile, JPROF_INUSE_SPACE);
	jprof_profile_outside(l->profile, false, &now);
	jprof_profile_outside(l->profile, true, &base);
	bool difference = l->difference, comparable = !difference || now.processes == base.processes;
	*text = '\0';
	if (!now.processes || !comparable)
		return false;
	if (!difference)
		base = (struct jprof_outside){ 0 };
	const struct gc_words gc = outside_gc_heap(l, &now, &base);
	double rss = rss_is_said ? NAN : grown(now.rss_anon, base.rss_anon), heap = grown(gc.now, gc.base);
	if (!isnan(rss)) {
		add_figure(text, rss_words(&now, words), now.rss_anon, base.rss_anon, difference);
		add_part(text, part, rss, difference);
	}
	if (!isnan(heap))
		add_figure(text, gc.words, gc.now, gc.base, difference);
	unsigned counted = add_overhead_figures(text, l) + !isnan(heap);
	if (isnan(rss) && counted)
		add_words(text, counted > 1 ? "none of these is in this profile" : "it is not in this profile");
	return *text;
}

bool outside_total_of(const struct loaded *l, char text[outside_most])
{
	struct jprof_outside now;
	jprof_profile_outside(l->profile, false, &now);
	if (now.processes < 2)
		return false;
	int len = snprintf(text, outside_most, "in %u processes, each counted whole", now.processes);
	if (now.related)
		len += snprintf(text + len, outside_most - (size_t)len,
		                "; what they share since the fork counts %u times", now.processes);
	if (!isnan(now.pss) && !l->difference)
		snprintf(text + len, outside_most - (size_t)len, " (sum of Pss %.0f MB)", now.pss / megabyte);
	return true;
}

/* "Not in it: Ruby's GC heap 51.8 MB, freed 17.6, fragmentation 5.7": what is worth it, in one line. */
static void add_other_parts(char text[outside_most], const struct loaded *l)
{
	struct jprof_outside now;
	jprof_profile_outside(l->profile, false, &now);
	size_t len = 0;
	const struct gc_words gc = outside_gc_heap(l, &now, &now);
	if (gc.now >= megabyte)
		len = (size_t)snprintf(text, outside_most, "%s %.1f MB", gc.words, gc.now / megabyte);
	for (size_t i = 0; i < sizeof other_parts / sizeof *other_parts; i++) {
		double bytes = jprof_profile_part(l->profile, false, other_parts[i].part);
		if (bytes >= megabyte)
			len += (size_t)snprintf(text + len, outside_most - len, "%s%s %.1f%s", len ? ", " : "",
			                        other_parts[i].brief, bytes / megabyte, len ? "" : " MB");
	}
}

void outside_notes(const struct loaded *l, char lines[2 * outside_most])
{
	struct jprof_outside now;
	char text[outside_most] = "";
	size_t len = 0;
	jprof_profile_outside(l->profile, false, &now);
	*lines = '\0';
	if (l->difference)
		outside_line(l, false, lines);
	else if (now.processes)
		add_other_parts(text, l);
	if (*text)
		len = (size_t)snprintf(lines, 2 * outside_most, "Not in it: %s\n", text);
	if (now.processes > 1 && now.related && !l->difference)
		snprintf(lines + len, outside_most,
		         "Each process counts whole: what they share since the fork counts %u times\n", now.processes);
}
