/* Target: tables of Ruby stacks. Asserts that a refusal is a text, that callers come before what they called, that
 * depths are those of the chains, that each number leads to its frame, and that tags have texts. */
#include "fuzz.h"
#include "input/rubytable.h"

static void check_frame(const struct jp_rubytable *t, uint32_t id)
{
	const struct jp_rubyframe *f = &t->frames[id];
	uint32_t depth = 1;
	for (uint32_t up = f->parent; up != JP_NONE; up = t->frames[up].parent)
		depth++;
	must(f->parent == JP_NONE || f->parent < id);
	must(f->depth == depth && depth <= jp_rubytable_deepest);
	(void)jp_rubytable_text(t, f->path);
	(void)jp_rubytable_text(t, f->owner);
	(void)jp_rubytable_text(t, f->method);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jp_rubytable *t = NULL;
	struct jprof_error err = { 0 };
	size_t found = 0;
	int rc = jp_rubytable_parse(data, size, "fuzz", &t, &err);
	must(!rc == !*err.text && !rc == !!t);
	if (rc)
		return 0;
	for (size_t i = 0; i < t->frame_count; i++)
		check_frame(t, (uint32_t)i);
	for (uint64_t node = 0; node < t->node_count; node++)
		found += t->places[node] != JP_NONE;
	must(found == t->frame_count);
	for (uint64_t number = 0; number < t->mark_count; number++) {
		const struct jp_rubytag *tag = jp_rubytable_tag(t, t->tags + number);
		must(!tag ||
		     (number && number < 1 << 10 && *jp_rubytable_text(t, tag->text) && tag->kind <= JP_TAG_JOB));
	}
	must(!t->slot_count || t->slot_rate);
	for (size_t i = 0; i < t->slot_count; i++) {
		must(t->slots[i].frame == JP_NONE || t->slots[i].frame < t->frame_count);
		must(jp_rubytable_slot_bytes(t, &t->slots[i]) >= t->slots[i].slot);
		(void)jp_rubytable_text(t, t->slots[i].class);
	}
	must(t->nodes <= t->tags && t->tags <= t->epochs && t->epochs <= t->end);
	jp_rubytable_free(t);
	return 0;
}
