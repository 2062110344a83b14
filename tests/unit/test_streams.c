/* Reports are handed to the writer in pieces while they are made: memory does not grow with them. */
#include "base/strbuf.h"
#include "harness.h"

enum { stacks = 9000, piece_limit = 160 << 10, large = 512 << 10 };

struct pieces {
	size_t count, largest, total;
};

static int take_piece(void *context, const void *data, size_t len)
{
	struct pieces *p = context;
	(void)data;
	p->count++;
	p->total += len;
	p->largest = len > p->largest ? len : p->largest;
	return 0;
}

/* So many stacks of three frames, each a place of its own. */
static struct jprof_profile *wide(size_t count)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) text = { 0 };
	struct jprof_profile *p;
	jp_strbuf_printf(&text, "heap_v2/524288\n  t*: %zu: %zu [0: 0]\n", count, 4096 * count);
	for (size_t i = 0; i < count; i++)
		jp_strbuf_printf(&text, "@ 0x%zx 0x%zx 0x%zx\n  t*: 1: 4096 [0: 0]\n", 0x401000 + 64 * i,
		                 0x4401000 + 64 * i, 0x8401000 + 64 * i);
	jp_strbuf_str(&text, "\nMAPPED_LIBRARIES:\n00400000-0f000000 r-xp 00000000 08:01 42 /no/such/file\n");
	assert_int_equal(jprof_profile_parse(text.text, text.len, "wide.heap", NULL, &p, NULL), 0);
	return p;
}

TEST(test_pieces_are_small)
{
	const struct jprof_view_opts errors = { .size = sizeof errors, .errors = true };
	struct jprof_profile *p = wide(stacks), *base = wide(1);
	struct jprof_view *view;
	const struct jprof_format *format;
	size_t seen = 0, wrong = 0;
	assert_int_equal(jprof_profile_difference(p, base, NULL), 0);
	assert_int_equal(jprof_profile_symbolize(p, NULL, NULL), 0);
	assert_int_equal(jprof_view_new(p, &errors, &view, NULL), 0);
	for (size_t i = 0; (format = jprof_format_at(i)); i++) {
		const struct jprof_report_opts opts = { .size = sizeof opts, .pattern = ".", .least_share = -1 };
		struct pieces got = { 0 };
		if (jprof_render(view, format->name, &opts, take_piece, &got, NULL) || got.total < large)
			continue;
		seen++;
		if (got.largest > piece_limit || got.count < got.total / piece_limit)
			wrong += (size_t)complain("%s: %zu bytes in %zu pieces, the largest of %zu", format->name,
			                          got.total, got.count, got.largest);
	}
	jprof_view_free(view);
	jprof_profile_free(base);
	jprof_profile_free(p);
	assert_int_equal(wrong, 0);
	assert_true(seen >= 8); /* else nothing was seen here */
}
