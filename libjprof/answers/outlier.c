#include "answers/outlier.h"

#include <math.h>
#include <string.h>

#include "base/strbuf.h"

/* RSS goes up and down by some MB in any process. */
static const double least_apart = 8 << 20, times_apart = 2;

/* NAN: not known, or it is not the same process. */
static double growth_of_process(const struct jp_compared *c, size_t i)
{
	const struct jp_process *now = &c->now[i];
	if (!c->pairs[i].same || c->pairs[i].with == jp_alone)
		return NAN;
	double before = c->base[c->pairs[i].with].rss;
	return now->rss > 0 && before > 0 ? now->rss - before : NAN;
}

/* The most that any other process of its role grew; NAN: there is none. */
static double most_of_others(const struct jp_compared *c, size_t self)
{
	double most = NAN;
	for (size_t i = 0; i < c->count; i++)
		if (i != self && !strcmp(c->now[i].role, c->now[self].role))
			most = fmax(most, growth_of_process(c, i));
	return most;
}

int jp_find_outlier(struct jprof_series *s, const struct jp_compared *c)
{
	s->info.outlier = "";
	s->info.outlier_growth = s->info.others_growth = NAN;
	for (size_t i = 0; i < c->count; i++) {
		struct jp_strbuf jp_cleanup(jp_strbuf_release) label = { 0 };
		double growth = growth_of_process(c, i), others = most_of_others(c, i);
		if (!(growth - fmax(others, 0) >= least_apart) || growth < times_apart * others || isnan(others))
			continue;
		jp_put_process_label(&label, &c->now[i]);
		s->info.outlier = label.failed ? NULL : jp_arena_dup(&s->arena, label.text, label.len);
		s->info.outlier_growth = growth;
		s->info.others_growth = others;
		return s->info.outlier ? 0 : -1;
	}
	return 0;
}
