#include "rubyheap/weights.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/pattern.h"

/* `made_at`: the line that allocated it, or a part of it. */
static bool is_chosen_object(const struct jprof_rubyheap *h, uint32_t node, uint32_t made_at,
                             const struct jprof_keepers_opts *opts, struct jp_pattern *line,
                             struct jp_pattern *class_name)
{
	const struct jp_heap *heap = &h->heap;
	const char *site = jp_heap_word(heap, made_at), *class_is = jp_heap_class(heap, node);
	if (heap->objects[node].type == JP_HEAP_ROOT || heap->objects[node].type == JP_HEAP_UNKNOWN)
		return false;
	return (!line || (*site && jp_pattern_found(line, site, strlen(site)))) &&
	       (!class_name || (*class_is && jp_pattern_found(class_name, class_is, strlen(class_is)))) &&
	       (!opts->site || !strcmp(opts->site, site) || !strcmp(opts->site, jp_heap_site(heap, made_at))) &&
	       (!opts->born || (h->born && h->born[node]));
}

static int choose_each(struct jp_weights *w, const struct jprof_keepers_opts *opts, struct jp_pattern *line,
                       struct jp_pattern *class_name, struct jprof_error *err)
{
	int rc = 0;
	for (uint32_t i = 0; !rc && i < w->h->heap.count; i++) {
		w->chosen[i] = is_chosen_object(w->h, i, w->h->heap.objects[i].site, opts, line, class_name);
		rc = jp_pattern_check(line, "line", err);
		rc = rc ? rc : jp_pattern_check(class_name, "class", err);
	}
	return rc;
}

/* An object that has a block is counted by its slot or by that: by whichever has more samples. */
static int choose_sampled(struct jp_weights *w, const struct jprof_keepers_opts *opts, struct jp_pattern *line,
                          struct jp_pattern *class_name, struct jprof_error *err)
{
	const struct jp_heap *heap = &w->h->heap;
	size_t by_slot = 0, by_buffer = 0;
	w->picked = calloc(heap->sample_count + 1, sizeof *w->picked);
	int rc = w->picked ? 0 : jp_error_nomem(err);
	for (size_t i = 0; !rc && i < heap->sample_count; i++) {
		const struct jp_heap_sample *sample = &heap->samples[i];
		uint32_t node = (uint32_t)sample->node;
		w->picked[i] = is_chosen_object(w->h, node, sample->site, opts, line, class_name);
		w->chosen[node] = w->chosen[node] || w->picked[i];
		by_slot += w->picked[i] && sample->part == JP_PART_SLOT;
		by_buffer += w->picked[i] && sample->part == JP_PART_BUFFER && sample->objects > 0;
		rc = jp_pattern_check(line, "line", err);
		rc = rc ? rc : jp_pattern_check(class_name, "class", err);
	}
	w->silent = by_slot > by_buffer ? JP_PART_BUFFER : JP_PART_SLOT;
	return rc;
}

int jp_choose_objects(struct jp_weights *w, const struct jprof_keepers_opts *opts, struct jprof_error *err)
{
	struct jp_pattern *line = NULL, *class_name = NULL;
	if (!opts->line && !opts->class_name && !opts->site && !opts->born)
		return 0;
	int rc = opts->line ? jp_pattern_new(opts->line, "line", &line, err) : 0;
	if (!rc && opts->class_name)
		rc = jp_pattern_new(opts->class_name, "class", &class_name, err);
	w->chosen = rc ? NULL : calloc(w->h->heap.count + (size_t)1, sizeof *w->chosen);
	if (!rc && !w->chosen)
		rc = jp_error_nomem(err);
	if (!rc)
		rc = (w->sampled && w->h->heap.has_buffers ? choose_sampled : choose_each)(w, opts, line, class_name,
		                                                                           err);
	jp_pattern_free(line);
	jp_pattern_free(class_name);
	return rc;
}

/* What an object's samples of a choice stand for. */
struct stood_for {
	double bytes, objects;
};

static struct stood_for picked_of(const struct jp_weights *w, uint32_t node)
{
	const struct jp_heap *heap = &w->h->heap;
	const struct jp_heap_sample *sample, *end;
	struct stood_for sum = { 0, 0 };
	for (jp_heap_samples(heap, node, &sample, &end); sample < end; sample++)
		if (w->picked[sample - heap->samples]) {
			sum.bytes += sample->bytes;
			sum.objects += sample->part == w->silent ? 0 : sample->objects;
		}
	return sum;
}

uint64_t jp_chosen_bytes(const struct jp_weights *w, uint32_t node, bool below)
{
	const struct jprof_rubyheap *h = w->h;
	if (!w->chosen[node])
		return 0;
	if (w->picked)
		return (uint64_t)picked_of(w, node).bytes;
	if (w->sampled)
		return (uint64_t)((double)h->heap.stands_for[node] * (double)h->heap.objects[node].bytes);
	return w->alone ? h->heap.objects[node].bytes : below ? 0 : h->keeps[node];
}

uint64_t jp_chosen_objects(const struct jp_weights *w, uint32_t node)
{
	if (!w->sampled)
		return w->chosen[node];
	if (!w->chosen[node])
		return 0;
	double objects = w->picked ? picked_of(w, node).objects : (double)w->h->heap.stands_for[node];
	return (uint64_t)(objects + 0.5);
}
