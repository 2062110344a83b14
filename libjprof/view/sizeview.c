/* Objects by jemalloc's size classes (docs of mallctl, "size classes": 8, then multiples of 16 up to 128, then four to
 * each doubling). */
#include "view/sizeview.h"

#include <stdlib.h>

#include "base/error.h"
#include "view/view.h"

/* More than there are up to 2^60 bytes; the last is for what has no size: a difference in which objects came and bytes
 * went. */
enum { classes = 240, no_size = classes };

struct jprof_sizes {
	size_t count;
	struct jprof_size sizes[classes + 1];
	bool used[classes + 1];
	struct jp_evidence evidence[classes + 1];
};

/* A mean may be a little above its class: a few larger objects of the same stack make it so, and counters of sampled
 * objects are rounded. */
unsigned jp_mean_size_class(double size, double *limit)
{
	static const double slack = 1.01;
	double step = 16;
	unsigned number = 1;
	for (*limit = 8; *limit * slack < size && number < classes - 1; number++) {
		if (*limit >= 8 * step)
			step *= 2;
		*limit = *limit < 16 ? 16 : *limit + step;
	}
	return number;
}

int jprof_sizes_new(const struct jprof_view *view, struct jprof_sizes **out, struct jprof_error *err)
{
	if (jp_null(err, view, out))
		return JPROF_E_ARGUMENT;
	struct jprof_sizes *s = calloc(1, sizeof *s);
	if (!s)
		return jp_error_nomem(err);
	for (uint32_t i = 0; i < view->stack_count; i++) {
		double bytes, objects = jp_stack_objects(view, i, &bytes), limit = 0;
		if (!view->stacks[i].depth || (bytes == 0 && objects == 0))
			continue;
		bool sized = objects != 0 && bytes / objects > 0;
		unsigned at = sized ? jp_mean_size_class(bytes / objects, &limit) : no_size;
		s->used[at] = true;
		s->sizes[at].limit = limit;
		s->sizes[at].bytes += bytes;
		s->sizes[at].objects += objects;
		if (view->evidence)
			jp_evidence_add(&s->evidence[at], &view->evidence[i]);
	}
	for (size_t i = 0; i <= classes; i++) {
		if (!s->used[i])
			continue;
		if (view->evidence)
			s->sizes[i].range = jp_evidence_range(&view->lineage, &s->evidence[i], view->info.counter);
		s->sizes[s->count++] = s->sizes[i];
	}
	*out = s;
	return 0;
}

size_t jprof_sizes_count(const struct jprof_sizes *sizes)
{
	return sizes ? sizes->count : 0;
}

const struct jprof_size *jprof_sizes_at(const struct jprof_sizes *sizes, size_t i)
{
	return sizes && i < sizes->count ? &sizes->sizes[i] : NULL;
}

void jprof_sizes_free(struct jprof_sizes *sizes)
{
	free(sizes);
}
