#include "render/jsontags.h"

#include <math.h>
#include <stdlib.h>

#include "base/search.h"

/* Of a tag, or of none. */
struct tag_sum {
	uint32_t tag;
	bool any;
	double value;
	struct jp_evidence evidence;
};

static int by_tag_value(const void *a, const void *b)
{
	const struct tag_sum *x = a, *y = b;
	return jp_order_by(fabs(y->value), fabs(x->value), jp_order(x->tag, y->tag));
}

static void put_tag_sum(struct jp_jsonout *j, const struct jprof_view *v, const struct tag_sum *sum)
{
	const struct jp_intern *tags = &v->profile->tags;
	struct jprof_range range = jp_evidence_range(&v->lineage, &sum->evidence, v->info.counter);
	jp_jsonout_put(
	    j, "{kind:%s text:%s value:%.3f error:%.3f samples:%.3f}", jp_tag_word(jp_tag_kind(tags, sum->tag)),
	    sum->tag == JP_NONE ? NULL : jp_tag_text(tags, sum->tag), sum->value, range.error, range.samples);
}

int jp_put_json_tags(struct jp_jsonout *j, const struct jprof_view *v)
{
	uint32_t count = v->profile->tags.count;
	struct tag_sum *sums = calloc((size_t)count + 1, sizeof *sums);
	if (!sums)
		return -1;
	for (uint32_t i = 0; i <= count; i++)
		sums[i].tag = i < count ? i : JP_NONE;
	for (uint32_t i = 0; i < v->stack_count; i++) {
		uint32_t tag = v->stacks[i].tag;
		struct tag_sum *sum = &sums[tag == JP_NONE ? count : tag];
		sum->any = true;
		sum->value += jp_stack_value(v, i);
		jp_evidence_add(&sum->evidence, &v->evidence[i]);
	}
	qsort(sums, (size_t)count + 1, sizeof *sums, by_tag_value);
	if (count)
		jp_jsonout_open(j, "tags", '[', false);
	for (uint32_t i = 0; count && i <= count; i++)
		if (sums[i].any)
			put_tag_sum(j, v, &sums[i]);
	if (count)
		jp_jsonout_close(j);
	free(sums);
	return 0;
}
