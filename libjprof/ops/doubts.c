#include "ops/doubts.h"

#include <math.h>

/* Of which a file has to name this part before it is said that nothing proves it. */
static const double least_part = 0.01;

struct doubtful {
	uint32_t first, count; /* the first object, and how many */
};

static struct doubtful doubtful_of(const struct jprof_profile *p, enum jp_doubt doubt)
{
	struct doubtful d = { JP_NONE, 0 };
	for (uint32_t i = 0; i < jp_object_count(p); i++)
		if (p->objects[i].doubt == doubt && !d.count++)
			d.first = i;
	return d;
}

static bool is_named_unproven(const struct jprof_profile *p, uint32_t location)
{
	const struct jp_location *l = &p->locations[location];
	return l->source > JPROF_SOURCE_FDE && p->objects[l->object].doubt == JP_DOUBT_UNPROVEN;
}

static bool is_in_stack(const struct jprof_profile *p, const struct jp_sample *sample)
{
	size_t depth;
	const uint32_t *stack = jp_stack_get(p, sample->stack, &depth);
	for (size_t i = 0; i < depth; i++)
		if (is_named_unproven(p, stack[i]))
			return true;
	return false;
}

/* The counter's bytes of samples [0, count), of those with a name that nothing proves, or of all, up to `enough`. */
static double bytes_of_samples(const struct jprof_profile *p, enum jprof_counter counter, bool all, double enough)
{
	double sum = 0;
	for (uint32_t i = 0; i < jp_sample_count(p) && sum < enough; i++) {
		const struct jp_sample *sample = &p->samples.items[i];
		if (all || is_in_stack(p, sample))
			sum += fabs(jp_sample_values(&p->samples, sample).value[counter]);
	}
	return sum;
}

/* Where it is not known what such a file names. */
static bool is_any_placeless(const struct jprof_profile *p)
{
	for (uint32_t i = 0; i < jp_object_count(p); i++)
		if (p->objects[i].placeless && p->objects[i].doubt == JP_DOUBT_UNPROVEN)
			return true;
	return false;
}

/* Whether enough has such a name. */
static bool is_worth_a_note(const struct jprof_profile *p)
{
	if (is_any_placeless(p))
		return true;
	enum jprof_counter counter = JPROF_INUSE_SPACE;
	double least = least_part * bytes_of_samples(p, counter, true, INFINITY);
	if (!(least > 0)) {
		counter = JPROF_ALLOC_SPACE;
		least = least_part * bytes_of_samples(p, counter, true, INFINITY);
	}
	return least > 0 && bytes_of_samples(p, counter, false, least) >= least;
}

static int note_changed(struct jprof_profile *p, struct doubtful d)
{
	const char *path = jp_string(p, p->objects[d.first].path);
	if (d.count == 1)
		return jp_note(p, "%s changed after the dump was made: its names may be wrong", path);
	return jp_note(p, "%s and %u more file%s changed after the dump was made: their names may be wrong", path,
	               d.count - 1, d.count > 2 ? "s" : "");
}

static int note_unproven(struct jprof_profile *p, struct doubtful d)
{
	const char *path = jp_string(p, p->objects[d.first].path);
	if (d.count == 1)
		return jp_note(p, "nothing proves that %s is the file that ran: its names may be wrong", path);
	return jp_note(p, "nothing proves that %s and %u more file%s are those that ran: their names may be wrong",
	               path, d.count - 1, d.count > 2 ? "s" : "");
}

int jp_note_doubts(struct jprof_profile *p)
{
	struct doubtful changed = doubtful_of(p, JP_DOUBT_CHANGED), unproven = doubtful_of(p, JP_DOUBT_UNPROVEN);
	if (changed.count && note_changed(p, changed))
		return -1;
	return unproven.count && is_worth_a_note(p) ? note_unproven(p, unproven) : 0;
}
