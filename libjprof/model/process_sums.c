#include "model/process_sums.h"

#include <math.h>
#include <stdio.h>

static void sum_known(struct jp_known_sum *to, const struct jp_known_sum *from)
{
	to->of += from->of;
	to->bytes += from->bytes;
}

static void sum_processes(struct jp_process_sums *to, const struct jp_process_sums *from)
{
	to->processes += from->processes;
	sum_known(&to->rss_anon, &from->rss_anon);
	sum_known(&to->pss, &from->pss);
	sum_known(&to->gc_heap, &from->gc_heap);
	sum_known(&to->kept, &from->kept);
}

void jp_outside_add(struct jp_outside *to, const struct jp_outside *from, double factor)
{
	struct jp_outside more = *from; /* they may be one and the same */
	sum_processes(factor < 0 ? &to->base : &to->now, &more.now);
	sum_processes(factor < 0 ? &to->now : &to->base, &more.base);
}

void jp_known_add(struct jp_known_sum *to, double bytes)
{
	to->of++;
	to->bytes += bytes;
}

double jp_gc_page_size(const char *version, uint64_t pages, uint64_t slots)
{
	static const double small = 16384, large = 65536, least_slot = 40;
	unsigned major, minor;
	if (!version || sscanf(version, "%u.%u", &major, &minor) != 2 || major < 2)
		return 0;
	double size = major > 3 || (major == 3 && minor >= 2) ? large : small;
	return (double)slots * least_slot <= (double)pages * size ? size : 0;
}

static double known_bytes(const struct jp_known_sum *known, unsigned processes)
{
	return processes && known->of == processes ? known->bytes : NAN;
}

struct jprof_outside jp_outside_figures(const struct jp_process_sums *sums)
{
	return (struct jprof_outside){ .processes = sums->processes,
		                       .rss_anon = known_bytes(&sums->rss_anon, sums->processes),
		                       .pss = known_bytes(&sums->pss, sums->processes),
		                       .gc_heap = known_bytes(&sums->gc_heap, sums->processes),
		                       .kept = known_bytes(&sums->kept, sums->processes) };
}
