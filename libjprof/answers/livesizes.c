#include "answers/livesizes.h"

#include <math.h>
#include <string.h>

#include "model/profile.h"

static const struct jp_figures *figures_at(const struct jp_moments *m, size_t i)
{
	const struct jp_outside *outside = &m->at[i].profile->outside;
	return m->at[i].base ? &outside->base.figures : &outside->now.figures;
}

bool jp_live_is_counted(const struct jp_moments *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (*jprof_profile_info(m->at[i].profile)->format ||
		    (!*figures_at(m, i)->seen.malloc &&
		     (!*figures_at(m, i)->seen.jemalloc || isnan(jp_part_bytes(m, i, JPROF_PART_LIVE)))))
			return false;
	return true;
}

size_t jp_live_sizes(const struct jp_moments *m, uint64_t sizes[jp_most_classes])
{
	size_t count = 0;
	for (size_t i = 0; i < m->count; i++) {
		const struct jp_figures *f = figures_at(m, i);
		for (unsigned k = 0; k < f->class_count && count < jp_most_classes; k++) {
			size_t known = 0;
			while (known < count && sizes[known] != f->classes[k].size)
				known++;
			if (known == count && f->classes[k].objects > 0)
				sizes[count++] = f->classes[k].size;
		}
	}
	return count;
}

struct jp_class_sum jp_live_of_size(const struct jp_moments *m, size_t i, uint64_t size)
{
	static const struct jp_class_sum none;
	const struct jp_figures *f = figures_at(m, i);
	for (unsigned k = 0; k < f->class_count; k++)
		if (f->classes[k].size == size)
			return f->classes[k];
	return none;
}

static bool points_alike(const struct jp_referrer_sum *a, const struct jp_referrer_sum *b)
{
	return !strcmp(a->kind, b->kind) && !strcmp(a->name, b->name);
}

size_t jp_live_referrers(const struct jp_moments *m, const struct jp_referrer_sum *of[jp_most_pointing])
{
	size_t count = 0;
	for (size_t i = 0; i < m->count; i++) {
		const struct jp_referrer_sums *sums = &figures_at(m, i)->referrers;
		if (!sums->count)
			return 0;
		for (unsigned k = 0; k < sums->count && count < jp_most_pointing; k++) {
			size_t known = 0;
			while (known < count && !points_alike(of[known], &sums->of[k]))
				known++;
			if (known == count)
				of[count++] = &sums->of[k];
		}
	}
	return count;
}

struct jp_referrer_sum jp_live_of_referrer(const struct jp_moments *m, size_t i, const struct jp_referrer_sum *like)
{
	static const struct jp_referrer_sum none;
	const struct jp_referrer_sums *sums = &figures_at(m, i)->referrers;
	for (unsigned k = 0; k < sums->count; k++)
		if (points_alike(&sums->of[k], like))
			return sums->of[k];
	return none;
}
