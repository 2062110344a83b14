/* Snapshots that were read from outside, without a dump: what two of them have, what grew between them, and what is
 * refused. The truths were worked out beside the texts. */
#include "base/strbuf.h"
#include "harness.h"

/* 1000 objects of 48 bytes in use, 100 of them in caches; one of 20480 bytes; a Ruby with 4 pages. */
#define HEAP(taken, orders)                                                                                            \
	"{\"source\":\"memory of the process\",\"caches\":2,\"caches_known\":true,\"torn\":0,\"mended\":0,"            \
	"\"misfits\":0,\"cut\":false,\"untouched_idle\":0,\"untouched_pages\":0,\"untouched_cached\":0,"               \
	"\"sampled_memory\":0,\"jemalloc\":{\"version\":\"5.3.0\",\"opt\":{\"background_thread\":false},"              \
	"\"config\":{\"cache_oblivious\":true},\"arenas\":{\"narenas\":1,\"page\":4096,"                               \
	"\"bin\":[{\"size\":8,\"nregs\":512},{\"size\":48,\"nregs\":256}]},"                                           \
	"\"stats\":{\"allocated\":6000000,\"active\":8000000,\"metadata\":30000,\"resident\":9000000,"                 \
	"\"mapped\":9000000},\"stats.arenas\":{\"merged\":{\"pactive\":1954,\"pdirty\":0,\"pmuzzy\":0,"                \
	"\"tcache_bytes\":4800,\"bins\":[{\"curregs\":0,\"curslabs\":0,\"cached\":0,\"sampled\":0},"                   \
	"{\"curregs\":" taken ",\"curslabs\":500,\"cached\":100,\"sampled\":0}],"                                      \
	"\"lextents\":[{\"curlextents\":1,\"cached\":0,\"bytes\":20480,\"untouched\":0,\"size\":20480}]}}},"           \
	"\"ruby\":{\"pages\":4,\"bytes\":65536,\"slots\":1600,\"free_slots\":600,\"free_bytes\":24000,"                \
	"\"named\":true,\"objects\":{\"complete\":true,\"types\":[{\"name\":\"Object\",\"count\":1000,"                \
	"\"slots\":40000}],\"classes\":[{\"name\":\"Order\",\"count\":" orders ",\"slots\":4000,\"own\":true}]}}}\n"

static const char before[] = HEAP("1000", "100"), after[] = HEAP("101000", "90");
static const char status[] = "Name:\tserver\nVmRSS:\t  9000 kB\nRssAnon:\t  8900 kB\nRssFile:\t  100 kB\n"
			     "RssShmem:\t  0 kB\nVmSwap:\t  0 kB\n";

static struct jp_strbuf bundle_of(const char *heap, const char *dump)
{
	struct jp_strbuf bytes = { 0 };
	struct jprof_bundle_writer *w;
	assert_int_equal(jprof_bundle_writer_new(NULL, append_to_strbuf, &bytes, &w, NULL), 0);
	assert_int_equal(jprof_bundle_writer_member(w, NULL, NULL), 0); /* without a file: it is none */
	assert_int_equal(jprof_bundle_writer_member(w, NULL, NULL), 0);
	assert_int_equal(jprof_bundle_writer_file(w, "heap.json", heap, strlen(heap), NULL), 0);
	assert_int_equal(jprof_bundle_writer_file(w, "status", status, strlen(status), NULL), 0);
	if (dump)
		assert_int_equal(jprof_bundle_writer_file(w, "dump.heap", dump, strlen(dump), NULL), 0);
	assert_int_equal(jprof_bundle_writer_finish(w, NULL), 0);
	jprof_bundle_writer_free(w);
	return bytes;
}

/* What is subtracted has no names yet. */
static struct jprof_profile *profile_outside(const char *heap, bool named)
{
	struct jp_strbuf bytes = bundle_of(heap, NULL);
	const struct jprof_profile_opts opts = { .size = sizeof opts, .dumpless = true };
	const struct jprof_symbolize_opts names = { .size = sizeof names, .no_lookup = true };
	struct jprof_profile *p;
	assert_int_equal(jprof_profile_parse(bytes.text, bytes.len, "hand", &opts, &p, NULL), 0);
	if (named)
		assert_int_equal(jprof_profile_symbolize(p, &names, NULL), 0);
	jp_strbuf_release(&bytes);
	return p;
}

static struct jprof_profile *difference(void)
{
	struct jprof_profile *now = profile_outside(after, false), *base = profile_outside(before, false);
	const struct jprof_symbolize_opts names = { .size = sizeof names, .no_lookup = true };
	assert_int_equal(jprof_profile_difference(now, base, NULL), 0);
	assert_int_equal(jprof_profile_symbolize(now, &names, NULL), 0);
	jprof_profile_free(base);
	return now;
}

static const struct jprof_explained *row_of(const struct jprof_explanation *e, enum jprof_part part, const char *name)
{
	const struct jprof_explained *row;
	size_t i = 0;
	while ((row = jprof_explain_at(e, i++)) && (row->part != part || strcmp(row->name, name) != 0))
		;
	return row;
}

TEST(test_explained)
{
	struct jprof_profile *now = profile_outside(after, true), *change = difference();
	struct jprof_explanation *e;
	assert_int_equal(jprof_explain_new(now, change, NULL, &e, NULL), 0);
	const struct jprof_explain_info *info = jprof_explain_info(e);
	assert_true(info->dumpless);
	assert_string_equal(info->seen.jemalloc, "5.3.0");
	assert_int_equal(info->seen.caches, 2);
	const struct jprof_explained *size = row_of(e, JPROF_PART_GROUP, "48 bytes"),
				     *live = row_of(e, JPROF_PART_LIVE, ""),
				     *orders = row_of(e, JPROF_PART_OBJECT_CLASS, "Order");
	assert_non_null(size);
	assert_true(size->bytes == 100900 * 48 && size->growth == 100000 * 48);
	assert_true(size->objects == 100900 && size->objects_growth == 100000);
	assert_true(live && live->objects == 100901 && live->objects_growth == 100000);
	assert_true(orders && orders->own && orders->objects == 90 && orders->objects_growth == -10);
	assert_true(row_of(e, JPROF_PART_GC_FREE, "")->bytes == 24000);
	jprof_explain_free(e);
	jprof_profile_free(now);
	jprof_profile_free(change);
}

TEST(test_grown)
{
	struct jprof_profile *change = difference();
	const struct jprof_profile *steps[] = { change };
	struct jprof_series *series;
	assert_int_equal(jprof_series_new(steps, 1, NULL, NULL, &series, NULL), 0);
	assert_true(jprof_series_info(series)->counted);
	const struct jprof_grown *row = jprof_series_at(series, 0), *all = jprof_series_malloc(series);
	assert_string_equal(row->name, "objects of 48 bytes");
	assert_int_equal(row->part, JPROF_PART_LIVE);
	assert_int_equal(row->verdict, JPROF_GROWING);
	assert_true(row->whole.growth == 100000 * 48 && row->objects == 100000 && isnan(row->whole.range.error));
	assert_true(row->values[0] == 900 * 48 && row->values[1] == 100900 * 48);
	/* By jemalloc's own count, in which nothing changed here. */
	assert_true(all->values[0] == 6000000 - 4800 && all->values[1] == all->values[0]);
	jprof_series_free(series);
	jprof_profile_free(change);
}

/* Pages of slabs were never touched, and jemalloc has no gaps of that size: objects in caches lie there. */
TEST(test_untouched_caches)
{
	static const char key[] = "\"untouched_pages\":";
	char text[sizeof before + 64];
	const char *at = strstr(before, key);
	struct jprof_explanation *e;
	snprintf(text, sizeof text, "%.*s%s200200%s", (int)(at - before), before, key, at + strlen(key));
	struct jprof_profile *p = profile_outside(text, true);
	assert_int_equal(jprof_explain_new(p, NULL, NULL, &e, NULL), 0);
	assert_true(row_of(e, JPROF_PART_LIVE, "")->bytes == 6000000 - 4800);
	assert_true(row_of(e, JPROF_PART_CACHED, "")->bytes == 4800 - 2000);
	assert_null(row_of(e, JPROF_PART_FRAGMENTATION, ""));
	jprof_explain_free(e);
	jprof_profile_free(p);
}

/* A page of 20480 bytes that malloc gave is in the GC heap alone. */
TEST(test_pages_of_malloc)
{
	static const char key[] = "\"named\":true,";
	char text[sizeof before + 80];
	const char *at = strstr(before, key);
	struct jprof_explanation *e;
	snprintf(text, sizeof text, "%.*s\"in_malloc\":{\"pages\":1,\"bytes\":20480,\"size\":20480},%s",
	         (int)(at - before), before, at);
	struct jprof_profile *p = profile_outside(text, true);
	assert_int_equal(jprof_explain_new(p, NULL, NULL, &e, NULL), 0);
	assert_true(row_of(e, JPROF_PART_LIVE, "")->bytes == 6000000 - 4800 - 20480);
	assert_true(row_of(e, JPROF_PART_LIVE, "")->objects == 900);
	assert_true(row_of(e, JPROF_PART_GC_HEAP, "")->bytes == 65536);
	assert_true(row_of(e, JPROF_PART_FRAGMENTATION, "")->bytes == 2000000);
	jprof_explain_free(e);
	jprof_profile_free(p);
}

/* A profile is wanted, a number is none that a process can have, or the text is none. */
TEST(test_refused)
{
	struct jprof_error err = { 0 };
	struct jprof_profile *p;
	struct jp_strbuf bytes = bundle_of(before, NULL);
	assert_int_equal(jprof_profile_parse(bytes.text, bytes.len, "hand", NULL, &p, &err), JPROF_E_FORMAT);
	assert_int_equal(err.advice, JPROF_ADVICE_DUMPLESS);
	jp_strbuf_release(&bytes);
	static const char *const hostile[] = {
		HEAP("9223372036854775807", "1"),        HEAP("18446744073709551615", "1"),
		HEAP("1", "18446744073709551615"),       HEAP("-1e300", "\"x\"],["),
		"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", ""
	};
	for (size_t i = 0; i < jp_count(hostile); i++) {
		struct jprof_explanation *e;
		p = profile_outside(hostile[i], true);
		assert_int_equal(jprof_explain_new(p, NULL, NULL, &e, NULL), 0);
		assert_null(row_of(e, JPROF_PART_LIVE, ""));
		assert_true(jprof_explain_info(e)->total == 9000 * 1024);
		assert_string_equal(jprof_explain_info(e)->seen.jemalloc, "");
		jprof_explain_free(e);
		jprof_profile_free(p);
	}
}

/* With a dump nothing of it counts: jemalloc and the dump tell the same. */
TEST(test_with_dump)
{
	struct jprof_profile *p;
	struct jp_strbuf bytes = bundle_of(before, "heap_v2/1\n  t*: 1: 40 [0: 0]\n@ 0x100010\n  t*: 1: 40 [0: 0]\n");
	assert_int_equal(jprof_profile_parse(bytes.text, bytes.len, "hand", NULL, &p, NULL), 0);
	assert_true(jprof_profile_total(p, JPROF_INUSE_SPACE) == 40);
	jprof_profile_free(p);
	jp_strbuf_release(&bytes);
}
