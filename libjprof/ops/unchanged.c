/* Whether the two sides of a difference may be one and the same dump. */
#include "model/pairs.h"

/* Whether a sample has nothing that one side alone has; *some: and it has anything. */
static bool is_equal_on_both(const struct jprof_profile *p, const struct jp_sample *sample, bool *some)
{
	struct jp_values v = jp_sample_values(&p->samples, sample);
	for (int c = 0; c < JPROF_COUNTERS; c++) {
		if (v.value[c] != 0)
			return false;
		*some = *some || jp_values_less(&v)->base[c] != 0;
	}
	return true;
}

int jprof_profile_unchanged(const struct jprof_profile *p)
{
	struct jp_compared jp_cleanup(jp_compared_release) c = { 0 };
	bool some = false;
	for (uint32_t i = 0; p && i < jp_sample_count(p); i++)
		if (!is_equal_on_both(p, &p->samples.items[i], &some))
			return 0;
	if (!some)
		return 0;
	if (jp_compared_of(p, &c))
		return JPROF_E_NOMEM;
	return !c.count || !c.base_count || jp_compared_any_same(&c);
}
