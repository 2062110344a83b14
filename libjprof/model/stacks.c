/* Stacks as the public API shows them. */
#include <math.h>

#include "model/profile.h"
#include "statistics/scaling.h"

size_t jprof_profile_stacks(const struct jprof_profile *profile)
{
	return profile ? jp_sample_count(profile) : 0;
}

double jprof_profile_value(const struct jprof_profile *profile, size_t i, enum jprof_counter counter)
{
	double value[JPROF_COUNTERS];
	if (i >= jprof_profile_stacks(profile) || !jp_is_counter(counter))
		return NAN;
	jp_sample_estimates(&profile->samples, &profile->samples.items[i], value);
	return value[counter];
}

static struct jprof_frame frame_of(const struct jprof_profile *p, const struct jp_location *l,
                                   const struct jp_frame *frame)
{
	const struct jp_function *f = &p->functions[frame->function];
	return (struct jprof_frame){
		.function = jp_string(p, f->brief),
		.full = jp_string(p, f->name),
		.file = f->file == JP_NONE ? NULL : jp_string(p, f->file),
		.line = frame->line,
		.inlined = frame->inlined,
		.named = l->source > JPROF_SOURCE_FDE,
		.address = l->address,
		.object = jp_string(p, p->objects[l->object].path),
	};
}

size_t jprof_profile_frames(const struct jprof_profile *p, size_t i, struct jprof_frame *frames, size_t cap)
{
	size_t depth, count = 0;
	if (i >= jprof_profile_stacks(p))
		return 0;
	const uint32_t *stack = jp_stack_get(p, p->samples.items[i].stack, &depth);
	for (size_t s = 0; s < depth; s++) {
		const struct jp_location *l = &p->locations[stack[s]];
		if (p->lean && !l->frame_count) {
			if (frames && count < cap)
				frames[count] =
				    (struct jprof_frame){ .function = "",
					                  .full = "",
					                  .address = l->address,
					                  .object = jp_string(p, p->objects[l->object].path) };
			count++;
		}
		for (uint32_t f = 0; f < l->frame_count; f++, count++)
			if (frames && count < cap)
				frames[count] = frame_of(p, l, &p->frames[l->frame_first + f]);
	}
	return count;
}
