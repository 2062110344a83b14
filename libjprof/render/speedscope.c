/* speedscope's own format (speedscope.app/file-format-schema.json), "sampled": stacks outermost first, the tag as
 * the root where there are any, inlined functions as frames, weights of 0 and more. One profile for each counter; of a
 * difference two, what grew and what shrank. Weights are whole and sum up to the total, cut to a whole number. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/error.h"
#include "base/jsonout.h"
#include "model/tags.h"
#include "render/render.h"
#include "view/walk.h"

/* What makes two frames one. */
struct key {
	uint32_t name, place, line, inlined;
};

enum { IS_TAG = 2 }; /* instead of inlined: `name` is a tag, JP_NONE no tag */

struct speedscope_writer {
	const struct jprof_view *view;
	struct jp_walk walk;
	struct jp_intern keys; /* speedscope's frames, by id */
	unsigned *line;        /* of each; where several are one frame, the first in the file */
	size_t line_cap;
	uint32_t *id_of_frame; /* by frame id, JP_NONE: not known yet */
	struct jp_jsonout *json;
	struct jp_strbuf weights;
};

/* The order in which profiles are shown: the one asked for is marked active. */
static const enum jprof_counter shown_order[] = { JPROF_INUSE_SPACE, JPROF_INUSE_OBJECTS, JPROF_ALLOC_SPACE,
	                                          JPROF_ALLOC_OBJECTS };

/* ---- frames ------------------------------------------------------------------------------------ */

static bool by_line(const struct speedscope_writer *w)
{
	enum jprof_granularity by = w->view->info.granularity;
	return by == JPROF_BY_LINE || by == JPROF_BY_ADDRESS;
}

static struct key key_of(const struct speedscope_writer *w, uint32_t id)
{
	const struct jp_code *code = &w->view->code;
	const struct jp_frame *frame = &code->frames[id];
	const struct jp_function *f = &code->functions[frame->function];
	uint32_t file = f->file != JP_NONE ? f->file : code->objects[jp_frame_location(w->view, id)->object].path;
	return (struct key){ w->view->info.full_names ? f->name : f->brief, file, by_line(w) ? frame->line : 0,
		             frame->inlined };
}

static uint32_t frame_id(struct speedscope_writer *w, uint32_t frame)
{
	uint32_t *id = &w->id_of_frame[frame];
	unsigned line = w->view->code.frames[frame].line;
	if (*id != JP_NONE)
		return *id;
	const struct key key = key_of(w, frame);
	uint32_t known = w->keys.count, found = jp_intern(&w->keys, &key, sizeof key);
	if (found == JP_NONE || jp_array_reserve(&w->line, &w->line_cap, (size_t)found + 1, sizeof *w->line))
		return JP_NONE;
	if (found == known || (line && (!w->line[found] || line < w->line[found])))
		w->line[found] = line;
	return *id = found;
}

static uint32_t tag_frame_id(struct speedscope_writer *w, uint32_t stack)
{
	const struct key key = { w->view->stacks[stack].tag, JP_NONE, 0, IS_TAG };
	uint32_t found = jp_intern(&w->keys, &key, sizeof key);
	if (found == JP_NONE || jp_array_reserve(&w->line, &w->line_cap, (size_t)found + 1, sizeof *w->line))
		return JP_NONE;
	w->line[found] = 0;
	return found;
}

static bool has_tag_roots(const struct speedscope_writer *w)
{
	return w->view->profile->tags.count > 0;
}

static int number_frames(struct speedscope_writer *w)
{
	for (uint32_t i = 0; i < w->view->stack_count; i++) {
		jp_walk_frames(&w->walk, i);
		if (w->walk.depth && has_tag_roots(w) && tag_frame_id(w, i) == JP_NONE)
			return -1;
		for (uint32_t f = w->walk.depth; f-- > 0;)
			if (frame_id(w, w->walk.frames[f]) == JP_NONE)
				return -1;
	}
	return 0;
}

static void put_frame(struct speedscope_writer *w, uint32_t id)
{
	const struct key *key = (const void *)jp_intern_get(&w->keys, id);
	const char *place = key->inlined == IS_TAG ? "" : jp_code_string(&w->view->code, key->place);
	struct jp_strbuf jp_cleanup(jp_strbuf_release) name = { 0 };
	if (key->inlined == IS_TAG)
		jp_put_tag(&w->view->profile->tags, key->name, &name);
	else
		jp_strbuf_printf(&name, "%s%s", jp_code_string(&w->view->code, key->name),
		                 key->inlined ? " (inline)" : "");
	jp_jsonout_put(w->json, "{name:%s", name.text ? name.text : "");
	if (*place)
		jp_jsonout_put(w->json, "file:%s", place);
	if (w->line[id])
		jp_jsonout_put(w->json, "line:%u", w->line[id]);
	jp_jsonout_close(w->json);
	w->weights.failed |= name.failed;
}

/* ---- profiles ---------------------------------------------------------------------------------- */

/* Adds the stacks of one sign; returns the sum of the weights, which are kept for later. */
static double put_speedscope_samples(struct speedscope_writer *w, enum jprof_counter counter, int sign)
{
	struct jp_jsonout weights = { .out = &w->weights };
	double sum = 0;
	jp_strbuf_cut(&w->weights, 0);
	jp_jsonout_open(w->json, "samples", '[', false);
	jp_jsonout_open(&weights, NULL, '[', true);
	for (uint32_t i = 0; i < w->view->stack_count; i++) {
		const struct jp_view_stack *stack = &w->view->stacks[i];
		double value = sign * jp_stack_number(w->view, i, counter);
		if (!stack->depth || value <= 0)
			continue;
		double weight = jp_whole_step(&sum, value);
		if (weight == 0)
			continue;
		jp_walk_frames(&w->walk, i);
		jp_jsonout_open(w->json, NULL, '[', true);
		if (has_tag_roots(w))
			jp_jsonout_uint(w->json, NULL, tag_frame_id(w, i));
		for (uint32_t j = w->walk.depth; j-- > 0;)
			jp_jsonout_uint(w->json, NULL, w->id_of_frame[w->walk.frames[j]]);
		jp_jsonout_close(w->json);
		jp_strbuf_drain(w->json->out);
		jp_jsonout_number(&weights, NULL, weight, 0);
	}
	jp_jsonout_close(w->json);
	jp_jsonout_close(&weights);
	return floor(sum);
}

static bool has_sign(const struct speedscope_writer *w, enum jprof_counter counter, int sign)
{
	for (uint32_t i = 0; i < w->view->stack_count; i++)
		if (sign * jp_stack_number(w->view, i, counter) >= 0.5)
			return true;
	return false;
}

/* Returns which of them is the one asked for. A profile without stacks is one that speedscope does not open. */
static unsigned put_profiles(struct speedscope_writer *w)
{
	unsigned count = 0, active = 0;
	jp_jsonout_open(w->json, "profiles", '[', false);
	for (size_t i = 0; i < jp_count(shown_order); i++)
		for (int sign = 1; sign >= -1; sign -= 2) {
			bool wanted = sign > 0 && shown_order[i] == w->view->info.counter;
			if (!has_sign(w, shown_order[i], sign) && !wanted)
				continue;
			active = wanted ? count : active;
			const char *suffix = sign < 0 ? ": shrank" : w->view->info.difference ? ": grew" : "";
			char name[64];
			snprintf(name, sizeof name, "%s%s", jp_counter_names[shown_order[i]], suffix);
			jp_jsonout_put(w->json, "{\ntype:%s name:%s unit:%s", "sampled", name,
			               jp_counts_bytes(shown_order[i]) ? "bytes" : "none");
			double sum = put_speedscope_samples(w, shown_order[i], sign);
			jp_jsonout_raw(w->json, "weights", &w->weights);
			jp_jsonout_put(w->json, "startValue:%u endValue:%f}", 0u, sum);
			count++;
		}
	jp_jsonout_close(w->json);
	return active;
}

int jp_render_speedscope(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                         struct jprof_error *err)
{
	struct jp_jsonout json = { .out = out };
	struct speedscope_writer w = { .view = view, .json = &json };
	(void)opts;
	w.id_of_frame = jp_none_array(w.view->code.frame_count);
	int rc = jp_walk_init(&w.walk, w.view) || !w.id_of_frame ? -1 : number_frames(&w);
	if (!rc) {
		jp_jsonout_put(w.json, "{\n$schema:%s exporter:%s",
		               "https://www.speedscope.app/file-format-schema.json", "jprof");
		if (w.view->profile->input_count)
			jp_jsonout_put(w.json, "name:%s", jp_basename(jp_view_input(w.view, 0)));
		jp_jsonout_put(w.json, "shared:{\nframes:[\n");
		for (uint32_t i = 0; i < w.keys.count; i++) {
			put_frame(&w, i);
			jp_strbuf_drain(w.json->out);
		}
		jp_jsonout_put(w.json, "]}");
		jp_jsonout_put(w.json, "activeProfileIndex:%u}", put_profiles(&w));
	}
	rc = rc || w.weights.failed ? -1 : 0;
	jp_walk_release(&w.walk);
	jp_intern_release(&w.keys);
	jp_strbuf_release(&w.weights);
	free(w.line);
	free(w.id_of_frame);
	return rc ? jp_error_nomem(err) : 0;
}
