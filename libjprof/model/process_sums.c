#include "model/process_sums.h"

#include <stdio.h>

static void sum_processes(struct jp_process_sums *to, const struct jp_process_sums *from)
{
	to->processes += from->processes;
	jp_known_sum_add(&to->rss_anon, &from->rss_anon);
	jp_known_sum_add(&to->pss, &from->pss);
	jp_known_sum_add(&to->kept, &from->kept);
	jp_figures_add(&to->figures, &from->figures);
}

void jp_outside_add(struct jp_outside *to, const struct jp_outside *from, double factor)
{
	struct jp_outside more = *from; /* they may be one and the same */
	sum_processes(factor < 0 ? &to->base : &to->now, &more.now);
	sum_processes(factor < 0 ? &to->now : &to->base, &more.base);
}

unsigned jp_ruby_version_number(const char *version)
{
	unsigned major, minor;
	return version && sscanf(version, "%2u.%2u", &major, &minor) == 2 && major >= 2 ? major * 100 + minor : 0;
}

bool jp_has_transient_heap(const char *version)
{
	unsigned number = jp_ruby_version_number(version);
	return number >= 206 && number <= 302;
}

bool jp_gc_one_slot_size(const char *version)
{
	unsigned number = jp_ruby_version_number(version);
	return number && number < 302;
}

double jp_gc_page_size(const char *version, uint64_t pages, uint64_t slots)
{
	static const double small = 16384, large = 65536, least_slot = 40;
	if (!jp_ruby_version_number(version))
		return 0;
	double size = jp_gc_one_slot_size(version) ? small : large;
	return (double)slots * least_slot <= (double)pages * size ? size : 0;
}

struct jprof_outside jp_outside_figures(const struct jp_process_sums *sums)
{
	return (struct jprof_outside){ .processes = sums->processes,
		                       .rss_anon = jp_known_bytes(&sums->rss_anon, sums->processes),
		                       .pss = jp_known_bytes(&sums->pss, sums->processes),
		                       .gc_heap =
		                           jp_known_bytes(&sums->figures.of[JPROF_FIGURE_GC_HEAP], sums->processes),
		                       .kept = jp_known_bytes(&sums->kept, sums->processes) };
}
