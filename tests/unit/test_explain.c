/* Explanations of members that were written by hand: each figure of /proc, of jemalloc and of Ruby is in its row, and
 * what is not known has none. The truths were worked out beside the texts. */
#include "base/strbuf.h"
#include "harness.h"

/* Sampled: 2 objects of 100 bytes, and 1 of 40000, which is none of the small. */
static const char dump[] = "heap_v2/1\n  t*: 3: 40200 [0: 0]\n"
			   "@ 0x100010\n  t*: 2: 200 [0: 0]\n@ 0x300010 0x100010\n  t*: 1: 40000 [0: 0]\n"
			   "\nMAPPED_LIBRARIES:\n"
			   "00100000-00101000 r-xp 00000000 08:01 11 /usr/bin/server\n"
			   "00300000-00301000 r-xp 00000000 08:01 13 /usr/lib/libxml2.so.2.9.14\n";

/* allocated 200000: 2 samples take 2 * 16384 - 200; caches 1000. */
static const char stats[] =
    "{\"jemalloc\":{\"opt\":{\"cache_oblivious\":true,\"narenas\":4,\"dirty_decay_ms\":10000,\"background_thread\":false},"
    "\"arenas\":{\"narenas\":1,\"page\":4096,\"bin\":[{\"size\":96,\"nregs\":128},{\"size\":112,\"nregs\":256}]},"
    "\"stats\":{\"allocated\":200000,\"active\":260000,\"metadata\":30000,\"resident\":400000},"
    "\"stats.arenas\":{\"0\":{\"pdirty\":25,\"pmuzzy\":2,\"tcache_bytes\":1000,\"internal\":5000,"
    "\"bins\":[{\"curregs\":100,\"curslabs\":1},{\"curregs\":300,\"curslabs\":2}]}}}}";

static const char status[] = "Name:\tserver\nVmRSS:\t  1000 kB\nRssAnon:\t  700 kB\nRssFile:\t  280 kB\n"
			     "RssShmem:\t  20 kB\nVmSwap:\t  8 kB\n";

/* A stack behind a guard, [stack], code without a file, a changed page of a library, memory that processes share; a
 * mapping behind a large one without access, and one that is larger than a stack, are none. */
static const char smaps[] =
    "00100000-00101000 r-xp 00000000 08:01 11 /usr/bin/server\nRss: 4 kB\nAnonymous: 0 kB\n"
    "00300000-00301000 rw-p 00000000 08:01 13 /usr/lib/lib [x].so\nRss: 16 kB\nAnonymous: 12 kB\n"
    "10000000-10001000 ---p 00000000 00:00 0 \nRss: 0 kB\nAnonymous: 0 kB\n"
    "10001000-10801000 rw-p 00000000 00:00 0 \nRss: 24 kB\nAnonymous: 24 kB\n"
    "20000000-24000000 ---p 00000000 00:00 0 \nRss: 0 kB\nAnonymous: 0 kB\n"
    "24000000-24100000 rw-p 00000000 00:00 0 \nRss: 100 kB\nAnonymous: 100 kB\n"
    "30000000-30001000 ---p 00000000 00:00 0 \nRss: 0 kB\nAnonymous: 0 kB\n"
    "30001000-31001000 rw-p 00000000 00:00 0 \nRss: 200 kB\nAnonymous: 200 kB\n"
    "40000000-40001000 r-xp 00000000 00:00 0 \nRss: 4 kB\nAnonymous: 4 kB\n"
    "50000000-50005000 rw-s 00000000 00:01 15 /dev/zero (deleted)\nRss: 20 kB\nShared_Dirty: 20 kB\nAnonymous: 0 kB\n"
    "7ffc00000000-7ffc00021000 rw-p 00000000 00:00 0 [stack]\nRss: 32 kB\nAnonymous: 32 kB\n"
    "7ffc00030000-7ffc00031000 r-xp 00000000 00:00 0 [vdso]\nRss: 4 kB\nAnonymous: 0 kB\nVmFlags: rd\n";

struct hand_file {
	const char *name, *text;
};

/* The profile of a bundle with this dump and these files, symbolized unless it is to be subtracted. */
static struct jprof_profile *bundled(const struct hand_file *files, size_t count, bool named)
{
	struct jp_strbuf bytes = { 0 };
	struct jprof_bundle_writer *writer;
	struct jprof_profile *p;
	assert_int_equal(jprof_bundle_writer_new(NULL, append_to_strbuf, &bytes, &writer, NULL), 0);
	assert_int_equal(jprof_bundle_writer_member(writer, NULL, NULL), 0);
	assert_int_equal(jprof_bundle_writer_file(writer, "dump.heap", dump, sizeof dump - 1, NULL), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(
		    jprof_bundle_writer_file(writer, files[i].name, files[i].text, strlen(files[i].text), NULL), 0);
	assert_int_equal(jprof_bundle_writer_finish(writer, NULL), 0);
	jprof_bundle_writer_free(writer);
	assert_int_equal(jprof_profile_parse(bytes.text, bytes.len, "hand", NULL, &p, NULL), 0);
	const struct jprof_symbolize_opts opts = { .size = sizeof opts, .no_lookup = true };
	if (named)
		assert_int_equal(jprof_profile_symbolize(p, &opts, NULL), 0);
	jp_strbuf_release(&bytes);
	return p;
}

static const struct jprof_explained *part(const struct jprof_explanation *e, enum jprof_part wanted)
{
	for (size_t i = 0; i < jprof_explain_count(e); i++)
		if (jprof_explain_at(e, i)->part == wanted)
			return jprof_explain_at(e, i);
	return NULL;
}

static double bytes(const struct jprof_explanation *e, enum jprof_part wanted)
{
	return part(e, wanted) ? part(e, wanted)->bytes : NAN;
}

static const struct hand_file all[] = { { "stats.json", stats },
	                                { "status", status },
	                                { "smaps", smaps },
	                                { "gcstat.json", "heap_allocated_pages 10\nheap_available_slots 4000\n" },
	                                { "memory.current", "2000000\n" },
	                                { "memory.max", "max\n" },
	                                { "memory.stat", "anon 1500000\nfile 300000\n" } };

TEST(test_parts)
{
	enum { KB = 1024 };
	struct jprof_explanation *e;
	struct jprof_profile *p = bundled(all, sizeof all / sizeof *all, true);
	assert_int_equal(jprof_explain_new(p, NULL, NULL, &e, NULL), 0);
	static const struct {
		enum jprof_part part;
		double bytes;
	} truths[] = { { JPROF_PART_LIVE, 200000 - (2 * 16384 - 200) - 1000 },
		       { JPROF_PART_FRAGMENTATION, 60000 - 2 * 4096 },
		       { JPROF_PART_DIRTY, 25 * 4096 },
		       { JPROF_PART_MUZZY, 2 * 4096 },
		       { JPROF_PART_CACHED, 1000 },
		       { JPROF_PART_METADATA, 30000 },
		       { JPROF_PART_INTERNAL, 5000 },
		       { JPROF_PART_TWICE, -5000 },
		       { JPROF_PART_PROFILER, 2 * 4096 },
		       { JPROF_PART_STACKS, 56 * KB },
		       { JPROF_PART_JIT, 4 * KB },
		       { JPROF_PART_FILES, 292 * KB },
		       { JPROF_PART_SHMEM, 20 * KB },
		       { JPROF_PART_SWAPPED, -8 * KB },
		       { JPROF_PART_SIZE_CLASS, 212 * 112 },
		       { JPROF_PART_TOTAL, 1000 * KB } };
	for (size_t i = 0; i < sizeof truths / sizeof *truths; i++)
		assert_float_equal(bytes(e, truths[i].part), truths[i].bytes, 1);
	/* No Ruby is mapped: how large a page of its heap is cannot be known. */
	assert_null(part(e, JPROF_PART_GC_HEAP));
	double sum = 0;
	for (size_t i = 0; i + 1 < jprof_explain_count(e); i++)
		sum += jprof_explain_at(e, i)->depth ? 0 : jprof_explain_at(e, i)->bytes;
	assert_float_equal(sum, 1000 * KB, 1);
	assert_true(isnan(part(e, JPROF_PART_LIVE)->growth));
	jprof_explain_free(e);
	jprof_profile_free(p);
}

/* 43,200 bytes in three slabs of 69,632, an object of 16 KiB, one of 40 KiB, and two samples of 100 bytes: these count
 * as 16 KiB each up to jemalloc 5.3.0, on five pages, and in 5.3.1 as nothing, on two. */
TEST(test_counts_of_samples)
{
	static const char form[] =
	    "{\"jemalloc\":{\"opt\":{\"cache_oblivious\":true},\"arenas\":{\"narenas\":1,\"page\":4096,"
	    "\"bin\":[{\"size\":96,\"nregs\":128,\"slab_size\":12288},{\"size\":112,\"nregs\":256,\"slab_size\":28672}],"
	    "\"lextent\":[{\"size\":16384},{\"size\":40960}]},"
	    "\"stats\":{\"allocated\":%d,\"active\":%d,\"metadata\":30000,\"resident\":400000},"
	    "\"stats.arenas\":{\"0\":{\"pactive\":%d,\"pdirty\":25,\"pmuzzy\":2,\"tcache_bytes\":1000,"
	    "\"bins\":[{\"curregs\":100,\"curslabs\":1},{\"curregs\":300,\"curslabs\":2}],"
	    "\"lextents\":[{\"curlextents\":%d},{\"curlextents\":1}]}}}}";
	static const struct {
		int allocated, pages, of_16k;
	} counts[] = { { 133312, 43, 3 }, { 100544, 37, 1 } };
	for (size_t i = 0; i < jp_count(counts); i++) {
		char text[1000];
		snprintf(text, sizeof text, form, counts[i].allocated, counts[i].pages * 4096, counts[i].pages,
		         counts[i].of_16k);
		const struct hand_file files[] = { { "stats.json", text }, { "status", status }, { "smaps", smaps } };
		struct jprof_profile *p = bundled(files, jp_count(files), true);
		struct jprof_explanation *e;
		assert_int_equal(jprof_explain_new(p, NULL, NULL, &e, NULL), 0);
		assert_float_equal(bytes(e, JPROF_PART_LIVE), 43200 + 16384 + 40960 + 200 - 1000, 1);
		assert_float_equal(bytes(e, JPROF_PART_FRAGMENTATION), 69632 - 43200 + 2 * 4096, 1);
		assert_float_equal(bytes(e, JPROF_PART_PADDING), 2 * 4096, 1);
		assert_float_equal(bytes(e, JPROF_PART_PROFILER), 2 * 4096, 1);
		jprof_explain_free(e);
		jprof_profile_free(p);
	}
}

TEST(test_group_and_owners)
{
	struct jprof_explanation *e;
	struct jprof_profile *p = bundled(all, sizeof all / sizeof *all, true);
	assert_int_equal(jprof_explain_new(p, NULL, NULL, &e, NULL), 0);
	const struct jprof_explain_info *info = jprof_explain_info(e);
	assert_true(info->group.known);
	assert_float_equal(info->group.current, 2000000, 0);
	assert_true(isinf(info->group.limit));
	assert_float_equal(info->group.cache, 300000, 0);
	assert_string_equal(jprof_explain_at(e, 1)->name, "libraries");
	assert_string_equal(jprof_explain_at(e, 2)->name, "libxml2");
	assert_string_equal(jprof_explain_at(e, 3)->name, "own code");
	assert_string_equal(jprof_explain_at(e, 4)->name, "server");
	assert_string_equal(part(e, JPROF_PART_SIZE_CLASS)->tenants, "server+0x10 100 %");
	assert_string_equal(part(e, JPROF_PART_SIZE_CLASS)->name,
	                    ""); /* two samples are too few to say that it is alone */
	assert_int_equal(jprof_explain_help(e, 0)->kind, JPROF_HELP_DECAY);
	assert_float_equal(jprof_explain_help(e, 0)->saves, 27 * 4096, 0);
	jprof_explain_free(e);
	jprof_profile_free(p);
}

/* What the earlier one lacks has no growth; what both have grew by the difference. */
TEST(test_growth)
{
	static const struct hand_file early[] = { { "status", "VmRSS: 400 kB\nRssFile: 180 kB\nVmSwap: 0 kB\n" } };
	const struct jprof_symbolize_opts opts = { .size = sizeof opts, .no_lookup = true };
	struct jprof_explanation *e;
	struct jprof_profile *now = bundled(all, sizeof all / sizeof *all, true);
	struct jprof_profile *change = bundled(all, sizeof all / sizeof *all, false);
	struct jprof_profile *base = bundled(early, 1, false);
	assert_int_equal(jprof_profile_difference(change, base, NULL), 0);
	assert_int_equal(jprof_profile_symbolize(change, &opts, NULL), 0);
	assert_int_equal(jprof_explain_new(now, change, NULL, &e, NULL), 0);
	assert_float_equal(part(e, JPROF_PART_TOTAL)->growth, 600 * 1024, 0);
	/* Which pages of files the earlier process had changed is not known: they count at neither. A NAN passes for
	 * equal. */
	assert_false(isnan(part(e, JPROF_PART_FILES)->growth));
	assert_float_equal(part(e, JPROF_PART_FILES)->growth, 100 * 1024, 0);
	assert_float_equal(part(e, JPROF_PART_SWAPPED)->growth, -8 * 1024, 0);
	assert_true(isnan(part(e, JPROF_PART_LIVE)->growth));
	assert_true(isnan(part(e, JPROF_PART_DIRTY)->growth));
	jprof_explain_free(e);
	jprof_profile_free(base);
	jprof_profile_free(change);
	jprof_profile_free(now);
}

/* Files that are cut or of no sense are as if they were not there. */
TEST(test_nonsense)
{
	static const char *const texts[] = { "",
		                             "{",
		                             "{\"jemalloc\":7}",
		                             "-",
		                             "VmRSS:\n",
		                             "x-",
		                             "99999999999999999999999",
		                             "00-zz r-xp",
		                             "heap_allocated_pages",
		                             "[stack" };
	static const char *const names[] = { "stats.json",   "gcstat.json",    "status",     "smaps",
		                             "smaps_rollup", "memory.current", "memory.max", "memory.stat" };
	for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
		struct hand_file files[sizeof names / sizeof *names];
		for (size_t i = 0; i < sizeof names / sizeof *names; i++)
			files[i] = (struct hand_file){ names[i], texts[t] };
		struct jprof_explanation *e;
		struct jprof_profile *p = bundled(files, sizeof names / sizeof *names, true);
		assert_int_equal(jprof_explain_new(p, NULL, NULL, &e, NULL), 0);
		assert_true(isnan(jprof_explain_info(e)->total));
		assert_null(part(e, JPROF_PART_NOT_EXPLAINED));
		assert_float_equal(bytes(e, JPROF_PART_LIVE), jprof_profile_total(p, JPROF_INUSE_SPACE), 0);
		jprof_explain_free(e);
		jprof_profile_free(p);
	}
}
