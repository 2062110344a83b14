/* DHAT's JSON, version 2, as valgrind's dh_view.html and the Firefox profiler read it: one program point for each
 * stack, frames innermost first, inlined functions as frames, the tag as the outermost where there are any. A dump is
 * one moment: there are no lifetimes, peaks or accesses (bklt and bkacc are false), and the total is what the view's
 * counter holds. */
#include <math.h>
#include <stdlib.h>

#include "base/error.h"
#include "base/jsonout.h"
#include "model/tags.h"
#include "render/render.h"
#include "statistics/scaling.h"
#include "view/walk.h"

struct dhat_writer {
	const struct jprof_view *view;
	struct jp_walk walk;
	struct jp_jsonout *json;
	struct jp_intern frames; /* DHAT's frames as text; the first is the root */
	uint32_t *id_of_frame;   /* by frame id, 0: not known yet */
	double bytes, blocks;    /* the sums so far */
	bool failed;
};

/* "0xADDRESS: NAME (FILE:LINE)", or "(in OBJECT)". */
static void describe_frame(const struct dhat_writer *w, uint32_t id, struct jp_strbuf *text)
{
	const struct jp_code *code = &w->view->code;
	const struct jp_location *l = jp_frame_location(w->view, id);
	const struct jp_frame *frame = &code->frames[id];
	const char *object = jp_code_object(code, l->object);
	jp_strbuf_printf(text, "0x%llX: %s", (unsigned long long)l->address, jp_frame_name(w->view, id));
	if (code->functions[frame->function].file != JP_NONE)
		jp_strbuf_printf(text, " (%s:%u)", jp_code_file(code, frame->function), frame->line);
	else if (*object)
		jp_strbuf_printf(text, " (in %s)", object);
}

static uint32_t dhat_frame(struct dhat_writer *w, uint32_t frame)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	uint32_t *id = &w->id_of_frame[frame];
	if (*id)
		return *id;
	describe_frame(w, frame, &text);
	uint32_t found = text.failed ? JP_NONE : jp_intern(&w->frames, text.text, text.len);
	if (found == JP_NONE)
		w->failed = true;
	else
		*id = found;
	return found;
}

/* In the form of a frame, for readers take frames to pieces. */
static uint32_t dhat_tag_frame(struct dhat_writer *w, uint32_t stack)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	jp_strbuf_str(&text, "0x0: ");
	jp_put_tag(&w->view->profile->tags, w->view->stacks[stack].tag, &text);
	jp_strbuf_str(&text, " (in tags)");
	uint32_t found = text.failed ? JP_NONE : jp_intern(&w->frames, text.text, text.len);
	w->failed = w->failed || found == JP_NONE;
	return found;
}

static void put_point(struct dhat_writer *w, uint32_t id)
{
	const struct jp_view_stack *stack = &w->view->stacks[id];
	double all_blocks = fmax(jp_stack_number(w->view, id, jp_objects_of(w->view->info.counter)), 0);
	double all_bytes = fmax(jp_stack_number(w->view, id, jp_bytes_of(w->view->info.counter)), 0);
	if (!stack->depth || (all_blocks == 0 && all_bytes == 0))
		return;
	double blocks = jp_whole_step(&w->blocks, all_blocks), bytes = jp_whole_step(&w->bytes, all_bytes);
	if (bytes == 0 && blocks == 0)
		return;
	jp_walk_frames(&w->walk, id);
	jp_jsonout_put(w->json, "{tb:%f tbk:%f fs:[", bytes, blocks);
	for (uint32_t i = 0; i < w->walk.depth; i++)
		jp_jsonout_uint(w->json, NULL, dhat_frame(w, w->walk.frames[i]));
	if (w->view->profile->tags.count)
		jp_jsonout_uint(w->json, NULL, dhat_tag_frame(w, id));
	jp_jsonout_put(w->json, "]}");
	jp_strbuf_drain(w->json->out);
}

static void put_command(struct dhat_writer *w)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	jp_strbuf_str(&text, "jprof");
	for (size_t i = 0; i < w->view->profile->input_count; i++)
		jp_strbuf_printf(&text, " %s", jp_view_input(w->view, i));
	if (jp_view_base(w->view))
		jp_strbuf_printf(&text, " (what grew since %s)", jp_view_base(w->view));
	jp_jsonout_string(w->json, "cmd", text.text ? text.text : "");
	w->failed |= text.failed;
}

static void put_dhat_head(struct dhat_writer *w)
{
	/* The viewer shows a rate by 1000000 units of time: with so many of them it is the value itself. */
	jp_jsonout_put(w->json, "{\ndhatFileVersion:%u mode:%s verb:%s bklt:%i bkacc:%i tu:%s Mtu:%s", 2u, "heap",
	               jp_counts_ever(w->view->info.counter) ? "Allocated" : "In use, allocated", false, false,
	               "(no time: a dump is one moment)", "dump");
	put_command(w);
	jp_jsonout_put(w->json, "pid:%u te:%u", 0u, 1000000u);
}

static bool has_negative(const struct dhat_writer *w)
{
	enum jprof_counter counter = w->view->info.counter;
	for (uint32_t i = 0; i < w->view->stack_count; i++)
		if (fmin(jp_stack_number(w->view, i, jp_bytes_of(counter)),
		         jp_stack_number(w->view, i, jp_objects_of(counter))) <= -0.5)
			return true;
	return false;
}

int jp_render_dhat(const struct jprof_view *view, const struct jprof_report_opts *opts, struct jp_strbuf *out,
                   struct jprof_error *err)
{
	struct jp_jsonout json = { .out = out };
	struct dhat_writer w = { .view = view, .json = &json };
	(void)opts;
	if (has_negative(&w))
		return jp_advise(
		    err, JPROF_ADVICE_GROWTH,
		    jp_error(err, JPROF_E_UNSUPPORTED, NULL, 0, "DHAT's viewer has no place for what shrank"));
	w.id_of_frame = calloc((size_t)view->code.frame_count + 1, sizeof *w.id_of_frame);
	w.failed = jp_walk_init(&w.walk, view) || !w.id_of_frame || jp_intern_str(&w.frames, "[root]") == JP_NONE;
	if (!w.failed) {
		put_dhat_head(&w);
		jp_jsonout_put(w.json, "pps:[\n");
		for (uint32_t i = 0; i < w.view->stack_count; i++)
			put_point(&w, i);
		jp_jsonout_put(w.json, "]ftbl:[\n");
		for (uint32_t i = 0; i < w.frames.count; i++) {
			jp_jsonout_string(w.json, NULL, jp_intern_get(&w.frames, i));
			jp_strbuf_drain(w.json->out);
		}
		jp_jsonout_put(w.json, "]}");
	}
	jp_intern_release(&w.frames);
	jp_walk_release(&w.walk);
	free(w.id_of_frame);
	return w.failed ? jp_error_nomem(err) : 0;
}
