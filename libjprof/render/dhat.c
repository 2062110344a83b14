/* DHAT's JSON, version 2, as valgrind's dh_view.html and the Firefox profiler read it: one program point for each
 * stack, frames innermost first, inlined functions as frames. A dump is one moment: there are no lifetimes, peaks
 * or accesses (bklt and bkacc are false), and the total is what the view's counter holds. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/jsonout.h"
#include "render/render.h"

struct writer {
	const struct jprof_profile *profile;
	const struct jprof_view_opts *opts;
	struct jp_jsonout *json;
	struct jp_intern frames; /* DHAT's frames as text; the first is the root */
	uint32_t *id_of_frame;   /* by frame id, 0: not known yet */
	double bytes, blocks;    /* the sums so far */
	bool failed;
};

static bool in_use(const struct writer *w)
{
	return w->opts->counter == JPROF_INUSE_SPACE || w->opts->counter == JPROF_INUSE_OBJECTS;
}

/* "0xADDRESS: NAME (FILE:LINE)", or "(in OBJECT)". */
static void describe(const struct writer *w, const struct jp_location *l, const struct jp_frame *frame,
                     struct jp_strbuf *text)
{
	const struct jprof_profile *p = w->profile;
	const struct jp_function *f = &p->functions[frame->function];
	const char *object = jp_string(p, p->objects[l->object].path);
	jp_strbuf_printf(text, "0x%llX: %s", (unsigned long long)l->address,
	                 jp_string(p, w->opts->full_names ? f->name : f->brief));
	if (f->file != JP_NONE)
		jp_strbuf_printf(text, " (%s:%u)", jp_string(p, f->file), frame->line);
	else if (*object)
		jp_strbuf_printf(text, " (in %s)", object);
}

static uint32_t frame_of(struct writer *w, const struct jp_location *l, uint32_t frame)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	uint32_t *id = &w->id_of_frame[frame];
	if (*id)
		return *id;
	describe(w, l, &w->profile->frames[frame], &text);
	uint32_t found = text.failed ? JP_NONE : jp_intern(&w->frames, text.text, text.len);
	if (found == JP_NONE)
		w->failed = true;
	else
		*id = found;
	return found;
}

static void put_stack(struct writer *w, const uint32_t *stack, size_t depth)
{
	jp_jsonout_open(w->json, "fs", '[', true);
	for (size_t i = 0; i < depth; i++) {
		const struct jp_location *l = &w->profile->locations[stack[i]];
		for (uint32_t f = 0; f < l->frame_count; f++)
			jp_jsonout_uint(w->json, NULL, frame_of(w, l, l->frame_first + f));
	}
	jp_jsonout_close(w->json);
}

static void put_point(struct writer *w, const struct jp_sample *sample)
{
	size_t depth;
	const uint32_t *stack = jp_stack_get(w->profile, sample->stack, &depth);
	const double *pair = sample->value + (in_use(w) ? JPROF_INUSE_OBJECTS : JPROF_ALLOC_OBJECTS);
	if (!depth || !(pair[0] > 0 || pair[1] > 0) || !jp_in_view(w->profile, w->opts, sample))
		return;
	double blocks = jp_whole_step(&w->blocks, fmax(pair[0], 0)), bytes = jp_whole_step(&w->bytes, fmax(pair[1], 0));
	if (bytes == 0 && blocks == 0)
		return;
	jp_jsonout_open(w->json, NULL, '{', true);
	jp_jsonout_number(w->json, "tb", bytes, 0);
	jp_jsonout_number(w->json, "tbk", blocks, 0);
	put_stack(w, stack, depth);
	jp_jsonout_close(w->json);
}

static void put_points(struct writer *w)
{
	jp_jsonout_open(w->json, "pps", '[', false);
	for (uint32_t i = 0; i < jp_sample_count(w->profile); i++)
		put_point(w, &w->profile->samples[i]);
	jp_jsonout_close(w->json);
	jp_jsonout_open(w->json, "ftbl", '[', false);
	for (uint32_t i = 0; i < w->frames.count; i++)
		jp_jsonout_string(w->json, NULL, jp_intern_get(&w->frames, i));
	jp_jsonout_close(w->json);
}

static void put_command(struct writer *w)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	jp_strbuf_str(&text, "jprof");
	for (size_t i = 0; i < w->opts->input_count; i++)
		jp_strbuf_printf(&text, " %s", w->opts->inputs[i]);
	if (w->opts->base)
		jp_strbuf_printf(&text, " (what grew since %s)", w->opts->base);
	jp_jsonout_string(w->json, "cmd", text.text ? text.text : "");
	w->failed |= text.failed;
}

static void put_head(struct writer *w)
{
	jp_jsonout_uint(w->json, "dhatFileVersion", 2);
	jp_jsonout_string(w->json, "mode", "heap");
	jp_jsonout_string(w->json, "verb", in_use(w) ? "In use, allocated" : "Allocated");
	jp_jsonout_bool(w->json, "bklt", false);
	jp_jsonout_bool(w->json, "bkacc", false);
	/* The viewer shows a rate by 1000000 units of time: with so many of them it is the value itself. */
	jp_jsonout_string(w->json, "tu", "(no time: a dump is one moment)");
	jp_jsonout_string(w->json, "Mtu", "dump");
	put_command(w);
	jp_jsonout_uint(w->json, "pid", 0);
	jp_jsonout_uint(w->json, "te", 1000000);
}

static void put_document(struct writer *w)
{
	jp_jsonout_open(w->json, NULL, '{', false);
	put_head(w);
	put_points(w);
	jp_jsonout_close(w->json);
}

static bool has_negative(const struct writer *w)
{
	int first = in_use(w) ? JPROF_INUSE_OBJECTS : JPROF_ALLOC_OBJECTS;
	for (uint32_t i = 0; i < jp_sample_count(w->profile); i++)
		for (int c = first; c < first + 2; c++)
			if (w->profile->samples[i].value[c] <= -0.5 &&
			    jp_in_view(w->profile, w->opts, &w->profile->samples[i]))
				return true;
	return false;
}

int jp_render_dhat(const struct jprof_profile *profile, const struct jprof_view_opts *opts, struct jp_strbuf *out,
                   struct jprof_error *err)
{
	struct jp_jsonout json = { .out = out };
	struct writer w = { .profile = profile, .opts = opts, .json = &json };
	if (has_negative(&w))
		return jp_error(err, JPROF_E_UNSUPPORTED, NULL, 0,
		                "DHAT's viewer has no place for what shrank; --drop_negative shows what grew");
	w.id_of_frame = calloc(profile->frame_count + 1, sizeof *w.id_of_frame);
	w.failed = !w.id_of_frame || jp_intern_str(&w.frames, "[root]") == JP_NONE;
	if (!w.failed)
		put_document(&w);
	jp_intern_release(&w.frames);
	free(w.id_of_frame);
	return w.failed ? jp_error_nomem(err) : 0;
}
