#include "paint.h"

#include <math.h>

/* White, then five steps; black text is readable on all. */
static const struct dot_paint shares[] = {
	{ "s0", "#fbfaf8", "#b9b4ab" }, { "s1", "#fff4df", "#c9a86a" }, { "s2", "#ffe3b3", "#c48a3a" },
	{ "s3", "#ffcb80", "#b36a16" }, { "s4", "#ffab5e", "#994d0a" }, { "s5", "#ff8a4c", "#7f3406" },
};
static const struct dot_paint growth[] = {
	{ "g0", "#fbfaf8", "#c98a84" }, { "g1", "#fdeeec", "#cf8178" }, { "g2", "#fbd6d1", "#c4594d" },
	{ "g3", "#f7b3aa", "#b23a2d" }, { "g4", "#f18d81", "#96261b" }, { "g5", "#ea6f61", "#7a1710" },
};
static const struct dot_paint loss[] = {
	{ "k0", "#fbfaf8", "#8aa6c4" }, { "k1", "#ecf4fc", "#7fa3c9" }, { "k2", "#d2e5f7", "#4f86bd" },
	{ "k3", "#accfef", "#2f6ba8" }, { "k4", "#86b7e5", "#1d528a" }, { "k5", "#64a0da", "#113c6b" },
};

/* Dark enough for text on every fill above. */
struct dot_origin dot_origin(enum jprof_origin origin)
{
	static const struct dot_origin origins[] = {
		[JPROF_ORIGIN_NATIVE] = { "native", "#2f2c28", NULL },
		[JPROF_ORIGIN_APPLICATION] = { "application", "#0b5a2a", "the application" },
		[JPROF_ORIGIN_GEM] = { "gem", "#123f7a", "gems" },
		[JPROF_ORIGIN_STDLIB] = { "stdlib", "#6a2a78", "Ruby's library" },
		[JPROF_ORIGIN_VM] = { "vm", "#7a1220", "Ruby itself" },
	};
	return origins[origin];
}

static size_t step(double share)
{
	static const double from[] = { 0, 0.01, 0.05, 0.15, 0.35 };
	size_t i = 0;
	while (i < sizeof from / sizeof *from && share > from[i])
		i++;
	return i;
}

struct dot_paint dot_paint(double value, const struct jprof_graph_info *info)
{
	size_t i = step(info->scale > 0 ? fabs(value) / info->scale : 0);
	if (!info->difference)
		return shares[i];
	return value < 0 ? loss[i] : value > 0 ? growth[i] : shares[0];
}
