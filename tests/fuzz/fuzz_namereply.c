/* Target: replies to requests for names, as a child or a file would give them. */
#include <string.h>

#include "fuzz.h"
#include "input/namereply.h"

/* Touches all bytes of it. */
static size_t length_of(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

static size_t check_reply_texts(const struct jp_namereply *r)
{
	size_t all = length_of(r->mallctl) + length_of(r->remarks);
	for (uint32_t i = 0; i < r->function_count; i++) {
		const struct jp_reply_function *f = &r->functions[i];
		must(!f->name == !f->linkage && !f->brief == !f->linkage);
		all += length_of(f->name) + length_of(f->brief) + length_of(f->linkage) + length_of(f->file);
	}
	for (uint32_t i = 0; i < r->want_count; i++) {
		must(r->wants[i].name);
		all += length_of(r->wants[i].name) + length_of(r->wants[i].dir);
	}
	for (uint32_t i = 0; i < r->loss_count; i++) {
		must(r->losses[i].text);
		all += length_of(r->losses[i].text);
	}
	return all;
}

static void check_reply_places(const struct jp_namereply *r)
{
	uint64_t frames = 0;
	for (uint32_t i = 0; i < r->place_count; i++) {
		const struct jp_reply_place *p = &r->places[i];
		must(p->frame_first == frames);
		must(p->frame_count <= r->frame_count - frames);
		must(p->reason < jp_nameless_count);
		must(p->source <= JPROF_SOURCE_DWARF && p->source != JPROF_SOURCE_JIT);
		must(p->reason == JP_NAMELESS_PENDING ? p->want < r->want_count : p->want == UINT32_MAX);
		frames += p->frame_count;
	}
	must(frames == r->frame_count);
	for (uint32_t i = 0; i < r->frame_count; i++)
		must(r->frames[i].function < r->function_count);
}

/* Written again it says the same: then writing that gives equal bytes. */
static void check_reply_again(const struct jp_namereply *r, size_t texts)
{
	struct jp_strbuf once = { 0 }, twice = { 0 };
	struct jp_namereply again;
	jp_namereply_write(r, &once);
	must(!once.failed);
	must(!jp_namereply_read(once.text, once.len, &again));
	must(check_reply_texts(&again) == texts);
	jp_namereply_write(&again, &twice);
	must(once.len == twice.len && !memcmp(once.text, twice.text, once.len));
	jp_namereply_release(&again);
	jp_strbuf_release(&once);
	jp_strbuf_release(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jp_namereply reply;
	if (!jp_namereply_read(data, size, &reply)) {
		check_reply_places(&reply);
		check_reply_again(&reply, check_reply_texts(&reply));
	}
	jp_namereply_release(&reply);
	return 0;
}
