/* Replies to requests for names: written and read they are equal; cut or changed anywhere they are refused, or read as
 * something sound. */
#include "harness.h"
#include "input/namereply.h"

static struct jp_reply_place places[] = {
	{ 0x1010, 0x1000, 0x1040, 0, 2, JPROF_SOURCE_DWARF, JP_NAMED, JP_NONE, false },
	{ 0x1020, 0x1000, 0x1040, 2, 0, JPROF_SOURCE_FDE, JP_NAMELESS_FUNCTION, JP_NONE, true },
	{ 0, 0, 0, 2, 0, JPROF_SOURCE_NONE, JP_NAMELESS_OUTSIDE, JP_NONE, false },
	{ UINT64_MAX, 0, 0, 2, 1, JPROF_SOURCE_NONE, JP_NAMELESS_CODE, JP_NONE, false },
	{ 0x2000, 0, 0, 3, 0, JPROF_SOURCE_NONE, JP_NAMELESS_PENDING, 1, false },
};
static struct jp_reply_frame frames[] = { { 1, 7, true }, { 0, UINT32_MAX, false }, { 2, 0, false } };
static struct jp_reply_function functions[] = {
	{ "ns::f<int>(char const*)", "ns::f", "_ZN2ns1fIiEEvPKc", "/src/f.cc" },
	{ "g", "g", "g", NULL },
	{ NULL, NULL, NULL, "\xff\x1b[31m of any bytes" },
};
static struct jp_reply_want wants[] = { { 1, "a.dwo", NULL }, { UINT64_MAX, "b.dwo", "/build" } };
static struct jp_reply_loss losses[] = { { 3, "c.dwo is missing" } };

static const struct jp_namereply full = {
	JP_DWARF_USED,
	true,
	true,
	"je_mallctl",
	"its .gnu_debuglink is no file name: /x",
	places,
	frames,
	functions,
	wants,
	losses,
	5,
	3,
	3,
	2,
	1,
	{ 0 },
	NULL,
	NULL,
	false,
};

static void same_text(const char *a, const char *b)
{
	assert_true(!a == !b);
	if (a)
		assert_string_equal(a, b);
}

static void same_place(const struct jp_reply_place *a, const struct jp_reply_place *b)
{
	assert_true(a->vaddr == b->vaddr && a->fde_start == b->fde_start && a->fde_end == b->fde_end);
	assert_true(a->frame_first == b->frame_first && a->frame_count == b->frame_count);
	assert_true(a->source == b->source && a->reason == b->reason && a->want == b->want && a->wrapper == b->wrapper);
}

static void same_frames(const struct jp_namereply *a, const struct jp_namereply *b)
{
	assert_int_equal(a->frame_count, b->frame_count);
	for (uint32_t i = 0; i < a->frame_count; i++) {
		assert_true(a->frames[i].function == b->frames[i].function && a->frames[i].line == b->frames[i].line);
		assert_true(a->frames[i].inlined == b->frames[i].inlined);
	}
	assert_int_equal(a->function_count, b->function_count);
	for (uint32_t i = 0; i < a->function_count; i++) {
		same_text(a->functions[i].name, b->functions[i].name);
		same_text(a->functions[i].brief, b->functions[i].brief);
		same_text(a->functions[i].linkage, b->functions[i].linkage);
		same_text(a->functions[i].file, b->functions[i].file);
	}
}

static void same_reply(const struct jp_namereply *a, const struct jp_namereply *b)
{
	assert_true(a->dwarf == b->dwarf && a->program == b->program && a->exports_malloc == b->exports_malloc);
	same_text(a->mallctl, b->mallctl);
	same_text(a->remarks, b->remarks);
	assert_int_equal(a->place_count, b->place_count);
	for (uint32_t i = 0; i < a->place_count; i++)
		same_place(&a->places[i], &b->places[i]);
	same_frames(a, b);
	assert_int_equal(a->want_count, b->want_count);
	for (uint32_t i = 0; i < a->want_count; i++) {
		assert_true(a->wants[i].unit == b->wants[i].unit);
		same_text(a->wants[i].name, b->wants[i].name);
		same_text(a->wants[i].dir, b->wants[i].dir);
	}
	assert_int_equal(a->loss_count, b->loss_count);
	for (uint32_t i = 0; i < a->loss_count; i++) {
		assert_true(a->losses[i].unit == b->losses[i].unit);
		same_text(a->losses[i].text, b->losses[i].text);
	}
}

/* Reads a copy that ends where the bytes end. */
static int read_copy(const void *data, size_t len, struct jp_namereply *reply)
{
	void *copy = malloc(len ? len : 1);
	assert_non_null(copy);
	memcpy(copy, data, len);
	int rc = jp_namereply_read(copy, len, reply);
	free(copy);
	return rc;
}

/* What was read can be written, and reads as the same. */
static void check_sound(const struct jp_namereply *reply)
{
	struct jp_strbuf bytes = { 0 };
	struct jp_namereply again;
	jp_namereply_write(reply, &bytes);
	assert_false(bytes.failed);
	assert_int_equal(read_copy(bytes.text, bytes.len, &again), 0);
	same_reply(reply, &again);
	jp_namereply_release(&again);
	jp_strbuf_release(&bytes);
}

TEST(test_round_trip)
{
	static const struct jp_namereply empty;
	struct jp_strbuf bytes = { 0 };
	struct jp_namereply read;
	jp_namereply_write(&full, &bytes);
	assert_int_equal(read_copy(bytes.text, bytes.len, &read), 0);
	same_reply(&full, &read);
	check_sound(&read);
	check_sound(&empty);
	jp_namereply_release(&read);
	jp_strbuf_release(&bytes);
}

TEST(test_cut_anywhere)
{
	struct jp_strbuf bytes = { 0 };
	struct jp_namereply read;
	jp_namereply_write(&full, &bytes);
	for (size_t len = 0; len < bytes.len; len++) {
		assert_int_equal(read_copy(bytes.text, len, &read), JPROF_E_FORMAT);
		jp_namereply_release(&read);
	}
	jp_strbuf_add(&bytes, "\0\0\0", 4);
	assert_int_equal(read_copy(bytes.text, bytes.len, &read), JPROF_E_FORMAT);
	jp_namereply_release(&read);
	jp_strbuf_release(&bytes);
}

/* Every bit, and every byte as the smallest and largest number. */
TEST(test_changed_anywhere)
{
	struct jp_strbuf bytes = { 0 };
	size_t refused = 0, read_well = 0;
	jp_namereply_write(&full, &bytes);
	for (size_t i = 0; i < 10 * bytes.len; i++) {
		struct jp_namereply read;
		char *at = &bytes.text[i / 10], was = *at;
		*at = (char)(i % 10 < 8 ? was ^ 1 << i % 10 : i % 10 == 8 ? 0 : 0xff);
		int rc = read_copy(bytes.text, bytes.len, &read);
		assert_true(!rc || rc == JPROF_E_FORMAT);
		if (!rc)
			check_sound(&read);
		*(rc ? &refused : &read_well) += 1;
		jp_namereply_release(&read);
		*at = was;
	}
	/* Numbers of things, positions and ids stand in more than a third of the bytes; addresses may be anything. */
	assert_true(refused > bytes.len && read_well > bytes.len);
	jp_strbuf_release(&bytes);
}

/* A reply that breaks one rule. */
static void refuse(const struct jp_namereply *wrong)
{
	struct jp_strbuf bytes = { 0 };
	struct jp_namereply read;
	jp_namereply_write(wrong, &bytes);
	assert_int_equal(read_copy(bytes.text, bytes.len, &read), JPROF_E_FORMAT);
	jp_namereply_release(&read);
	jp_strbuf_release(&bytes);
}

TEST(test_each_rule)
{
	struct jp_namereply wrong = full;
	struct jp_reply_place p[5];
	const struct jp_reply_place outside_with_source = { 0,       0, 0, 2, 0, JPROF_SOURCE_FDE, JP_NAMELESS_OUTSIDE,
		                                            JP_NONE, 0 };
	const struct jp_reply_place no_such_want = { 0, 0, 0, 3, 0, JPROF_SOURCE_NONE, JP_NAMELESS_PENDING, 2, 0 };
	const struct jp_reply_place want_of_none = { 0, 0, 0, 3, 0, JPROF_SOURCE_NONE, JP_NAMELESS_CODE, 0, 0 };
	const struct jp_reply_place backwards = { 0, 2, 1, 3, 0, JPROF_SOURCE_NONE, JP_NAMELESS_CODE, JP_NONE, 0 };
	const struct jp_reply_place listed = { 0, 0, 0, 3, 0, JPROF_SOURCE_JIT, JP_NAMELESS_CODE, JP_NONE, 0 };
	const struct jp_reply_place given = { 0, 0, 0, 3, 0, JPROF_SOURCE_INPUT, JP_NAMELESS_CODE, JP_NONE, 0 };
	const struct jp_reply_place reasonless = { 0, 0, 0, 3, 0, JPROF_SOURCE_NONE, jp_nameless_count, JP_NONE, 0 };
	const struct jp_reply_place *const each[] = { &outside_with_source, &no_such_want, &want_of_none,
		                                      &backwards,           &listed,       &given,
		                                      &reasonless };
	wrong.places = p;
	for (size_t i = 0; i < jp_count(each); i++) {
		memcpy(p, places, sizeof p);
		p[4] = *each[i];
		refuse(&wrong);
	}
	memcpy(p, places, sizeof p);
	p[4].frame_count = 1; /* a frame of two places, and one of none */
	refuse(&wrong);
	p[4].frame_count = 0;
	p[3].frame_count = 0;
	refuse(&wrong);
	struct jp_reply_function nameless = { "name", "name", NULL, NULL };
	struct jp_reply_frame beyond = { 1, 0, false };
	struct jp_reply_place one = { 0, 0, 0, 0, 1, JPROF_SOURCE_NONE, JP_NAMELESS_CODE, JP_NONE, 0 };
	const struct jp_namereply half_named = { .places = &one, .frames = frames + 2, .functions = &nameless };
	wrong = half_named;
	wrong.place_count = wrong.function_count = wrong.frame_count = 1;
	beyond.function = 0;
	wrong.frames = &beyond;
	refuse(&wrong);
	wrong.functions = functions;
	check_sound(&wrong);
	beyond.function = 1;
	refuse(&wrong);
}
