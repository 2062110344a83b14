/* Target: who has which block (docs/internals/buffers.md), beside a graph and a table. The input is three texts, each
 * but the last behind its length, in 2 bytes. Asserts that of the objects of a line no keeper has more than there is,
 * and that lines of what was born add up to all that samples say of it. */
#include <math.h>

#include "fuzz.h"
#include "jprof.h"

struct part {
	const uint8_t *data;
	size_t len;
};

static struct part take_part(struct part *left)
{
	size_t len = left->len < 2 ? 0 : (size_t)left->data[0] + 256u * left->data[1];
	struct part part = { left->data + 2, len };
	if (left->len < 2 || len > left->len - 2)
		return (struct part){ (const uint8_t *)"", 0 };
	left->data += len + 2;
	left->len -= len + 2;
	return part;
}

static void check_lines(const struct jprof_rubyheap *heap)
{
	const struct jprof_keepers_opts opts = { .size = sizeof opts, .line = "." };
	struct jprof_keepers *keepers;
	uint64_t bytes = 0;
	must(!jprof_keepers_new(heap, &opts, &keepers, NULL));
	for (size_t i = 0; i < jprof_keepers_count(keepers); i++) {
		const struct jprof_keeper *k = jprof_keepers_at(keepers, i);
		must(k->made_share >= 0 && k->made_share <= 1 && *k->what);
		bytes += k->keeps;
	}
	must(bytes <= jprof_keepers_info(keepers)->bytes);
	jprof_keepers_free(keepers);
}

static void check_born(struct jprof_rubyheap *heap, const struct jprof_rubyheap *before)
{
	struct jprof_born *born = NULL;
	double bytes = 0;
	uint64_t samples = 0;
	if (jprof_born_new(heap, before, NULL, &born, NULL)) /* it does not say whether objects were moved */
		return;
	const struct jprof_born_info *info = jprof_born_info(born);
	for (size_t i = 0; i < jprof_born_count(born); i++) {
		const struct jprof_born_line *line = jprof_born_at(born, i);
		must(line->error >= 0 && isfinite(line->error));
		bytes += (double)line->bytes;
		samples += line->samples;
	}
	must(samples == info->samples && samples <= jprof_rubyheap_info(heap)->sampled);
	must(!samples || fabs(bytes - info->sampled_bytes) <= (double)jprof_born_count(born) + 1e-9 * bytes);
	jprof_born_free(born);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct part left = { data, size };
	struct part graph = take_part(&left), table = take_part(&left);
	struct jprof_rubyheap *heap = NULL, *before = NULL;
	struct jprof_error err = { 0 };
	if (!size || jprof_rubyheap_parse(graph.data, graph.len, "graph", &heap, &err))
		return 0;
	must(!jprof_rubyheap_parse(graph.data, graph.len, "graph", &before, &err));
	(void)jprof_rubyheap_sites(before, table.data, table.len, &err);
	(void)jprof_rubyheap_sites(heap, table.data, table.len, &err);
	check_lines(heap);
	int rc = jprof_rubyheap_buffers(heap, table.data, table.len, left.data, left.len, &err);
	must(!rc || *err.text);
	check_lines(heap);
	check_born(heap, before);
	jprof_rubyheap_free(heap);
	jprof_rubyheap_free(before);
	return 0;
}
