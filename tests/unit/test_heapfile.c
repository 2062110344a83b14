/* The rules of the format, each by a dump of a few lines; then the real and the faulty samples,
 * whose README says what holds. Rate 1 makes counters stand as they are: k is 1 for r >= 40. */
#include "harness.h"
#include "input/dumpdata.h"

#define MAPS "\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 00000000 08:01 42   /opt/app/bin/server\n"
#define STACK "@ 0x401000 0x402000\n  t*: 10: 1000 [20: 3000]\n"

static struct jprof_dump *sample(const char *name)
{
	char path[512];
	struct jprof_dump *dump = NULL;
	struct jprof_error err = { 0 };
	snprintf(path, sizeof path, "%s/heaps/%s", SAMPLES, name);
	if (jprof_dump_open(path, &dump, &err))
		fail_msg("%s:%u: %s", name, err.line, err.text);
	return dump;
}

TEST(test_the_whole_format)
{
	struct jprof_dump *dump = dump_of("heap_v2/1\n"
	                                  "  t*: 31: 4000 [42: 5500]\n"
	                                  "  t3: 1: 2 [3: 4] a name, with blanks\n"
	                                  "  t1: 5: 6 [7: 8]\n"
	                                  "@ 0x10 0x20 0x30\n"
	                                  "  t*: 10: 1000 [20: 2000]\n"
	                                  "  t1: 4: 400 [8: 800]\n"
	                                  "  t3: 6: 600 [12: 1200]\n"
	                                  "@ 0x10 0x31 0xffffffffffffffff\n"
	                                  "  t*: 21: 3000 [22: 3500]\n"
	                                  "  t3: 21: 3000 [22: 3500]\n" MAPS);
	const struct jprof_dump_info *info = jprof_dump_info(dump);
	assert_int_equal(info->rate, 1);
	assert_int_equal(info->stacks, 2);
	assert_int_equal(info->depth, 3);
	assert_int_equal(info->addresses, 5); /* 0x10 0x1f 0x2f 0x30 0xff..fe */
	assert_int_equal(info->threads, 2);
	assert_true(info->has_alloc);
	static const double header[] = { 4000, 31, 5500, 42 }, total[] = { 4000, 31, 5500, 42 };
	static const double t1[] = { 400, 4, 800, 8 }, t3[] = { 3600, 27, 4700, 34 };
	for (int c = 0; c < JPROF_COUNTERS; c++) {
		assert_near(info->header[c], header[c]);
		assert_near(info->total[c], total[c]);
		assert_near(jprof_dump_thread(dump, 0)->total[c], t1[c]);
		assert_near(jprof_dump_thread(dump, 1)->total[c], t3[c]);
	}
	assert_int_equal(jprof_dump_thread(dump, 0)->id, 1);
	assert_string_equal(jprof_dump_thread(dump, 0)->name, "");
	assert_int_equal(jprof_dump_thread(dump, 1)->id, 3);
	assert_string_equal(jprof_dump_thread(dump, 1)->name, "a name, with blanks");
	assert_int_equal(jprof_maps_count(jprof_dump_maps(dump)), 1);
	assert_int_equal(jprof_dump_warnings(dump), 0);
	jprof_dump_free(dump);
}

/* Frame 0 is taken as it is; all others are return addresses, less one. */
TEST(test_return_addresses)
{
	static const uint64_t should[] = { 0x401000, 0x401fff, 0x400fff, UINT64_MAX - 1, 0 };
	struct jprof_dump *dump = dump_of("heap_v2/1\n@ 0x401000 0x402000 0x401000 0xFFFFFFFFFFFFFFFF 0x0\n"
	                                  "  t*: 1: 100 [0: 0]\n" MAPS);
	assert_int_equal(dump->depths[0], jp_count(should));
	for (size_t i = 0; i < jp_count(should); i++)
		assert_int_equal(dump->addresses[dump->frames[i]], should[i]);
	assert_false(jprof_dump_info(dump)->has_alloc);
	jprof_dump_free(dump);
}

/* Every line is scaled by itself: k of the sum would be another. Constants: see test_unbias.c. */
TEST(test_totals_are_scaled_by_stack)
{
	struct jprof_dump *dump = dump_of("heap_v2/524288\n"
	                                  "@ 0x1\n  t*: 1: 524288 [1: 524288]\n"
	                                  "@ 0x2\n  t*: 4: 8388608 [0: 0]\n"
	                                  "@ 0x3\n  t*: 0: 77 [0: 0]\n" MAPS);
	const struct jprof_dump_info *info = jprof_dump_info(dump);
	assert_near(info->total[JPROF_INUSE_OBJECTS], 1.5819767068693265 + 4.0746294414550963);
	assert_near(info->total[JPROF_INUSE_SPACE], 829411.40369110543 + 8545117.2824064381 + 77);
	assert_near(info->total[JPROF_ALLOC_OBJECTS], 1.5819767068693265);
	jprof_dump_free(dump);
}

/* Nothing that a dump may say in other words changes what it holds. */
TEST(test_variants_mean_the_same)
{
	static const char *const variants[] = {
		"heap_v2/1\n" STACK MAPS,
		"heap_v2/1\r\n@ 0x401000 0x402000\r\n  t*: 10: 1000 [20: 3000]\r\n\r\nMAPPED_LIBRARIES:\r\n"
		"00400000-00500000 r-xp 00000000 08:01 42   /opt/app/bin/server\r\n",
		"% anything\n%% more\nheap_v2/1\n" STACK MAPS,
		"heap_v2/1\n  t*: 9: 9 [9: 9]\n  t0: 1: 1 [1: 1]\n" STACK "  t0: 1: 100 [2: 300]\n" MAPS,
		"heap_v2/1\n  t0: 1: 1 [1: 1] t*: 7: 7 [7: 7]\n  t1: 1: 1 [1: 1] @ 0x5\n" STACK MAPS,
		"heap_v2/1\n  t0: 1: 1 [1: 1] two\nlines of a name\n" STACK MAPS,
		"heap_v2/1\n@ 0x0000000000000000401000   0x402000  \n\tt*:  10:  1000  [ 20:  3000]\n" MAPS,
		"heap_v2/1\n" STACK "\n\n\nMAPPED_LIBRARIES:\n00400000-00500000 r-xp 0 08:01 42 /opt/app/bin/server\n",
	};
	for (size_t i = 0; i < jp_count(variants); i++) {
		struct jprof_dump *dump = dump_of(variants[i]);
		const struct jprof_dump_info *info = jprof_dump_info(dump);
		assert_int_equal(jprof_dump_warnings(dump), 0);
		assert_int_equal(info->stacks, 1);
		assert_int_equal(info->depth, 2);
		assert_near(info->total[JPROF_INUSE_OBJECTS], 10);
		assert_near(info->total[JPROF_INUSE_SPACE], 1000);
		assert_near(info->total[JPROF_ALLOC_OBJECTS], 20);
		assert_near(info->total[JPROF_ALLOC_SPACE], 3000);
		assert_string_equal(jprof_maps_at(jprof_dump_maps(dump), 0)->path, "/opt/app/bin/server");
		jprof_dump_free(dump);
	}
}

TEST(test_warnings_of_the_dump_itself)
{
	struct jprof_dump *dump = dump_of("%warn sampled \033[1m a lot\n%other\nheap_v2/1\n" STACK MAPS);
	assert_int_equal(jprof_dump_warnings(dump), 1);
	assert_contains(jprof_dump_warning(dump, 0)->text, "sampled \\x1b[1m a lot");
	assert_int_equal(jprof_dump_warning(dump, 0)->line, 1);
	jprof_dump_free(dump);
}

/* Counters that cannot be scaled stand as they are, and somebody says so. */
TEST(test_soft_faults)
{
	static const struct {
		const char *text;
		double objects, bytes;
		size_t warnings;
	} cases[] = {
		{ "heap_v2/0\n@ 0x1\n  t*: 10: 1000 [0: 0]\n" MAPS, 10, 1000, 1 },
		{ "heap_v2/1024\n@ 0x1\n  t*: 10: 0 [0: 0]\n" MAPS, 10, 0, 1 },
		{ "heap_v2/1024\n@ 0x1\n  t*: 0: 1000 [0: 0]\n" MAPS, 0, 1000, 0 },
	};
	for (size_t i = 0; i < jp_count(cases); i++) {
		struct jprof_dump *dump = dump_of(cases[i].text);
		const struct jprof_dump_info *info = jprof_dump_info(dump);
		assert_near(info->total[JPROF_INUSE_OBJECTS], cases[i].objects);
		assert_near(info->total[JPROF_INUSE_SPACE], cases[i].bytes);
		assert_int_equal(jprof_dump_warnings(dump), cases[i].warnings);
		jprof_dump_free(dump);
	}
}

/* A fault after a sound stack: what stood before it counts, nothing of the faulty stack does, the
 * maps are still found, and one warning names the line. */
TEST(test_faults_after_a_sound_stack)
{
	static const char *const faults[] = {
		"@ 0x1 0x123456789012345678901234567890 0x2\n  t*: 1: 100 [0: 0]\n",
		"@ 0x1 0x10000000000000000\n  t*: 1: 100 [0: 0]\n",
		"@ 0x1 0x5 0x6 0x7 2\n  t*: 1: 100 [0: 0]\n",
		"@ 0x1 0x5 0x6 0x7 0x\n  t*: 1: 100 [0: 0]\n",
		"@ 0x1 0x2g\n  t*: 1: 100 [0: 0]\n",
		"@ 0x1 server+0x20\n  t*: 1: 100 [0: 0]\n",
		"words\n",
		"  x*: 1: 100 [0: 0]\n",
		"  t*: 1: 100\n",
		"  t*: -1: 100 [0: 0]\n",
		"  t*: 18446744073709551615: 18446744073709551615 [0: 0]\n",
		"  t*: 1: 99999999999999999999999999 [0: 0]\n",
		"  t*: 1: 100 [0: 9223372036854775808]\n",
		"  t*: 1: 100 [0: 0] and more\n",
		"heap_v2/1\n",
	};
	int wrong = 0;
	for (size_t i = 0; i < jp_count(faults); i++) {
		char text[1024];
		bool stack = *faults[i] == '@';
		snprintf(text, sizeof text, "heap_v2/1\n%s%s%s" STACK MAPS, STACK,
		         stack || !strchr(" ", *faults[i]) ? "" : "@ 0x3 0x4 0x5\n", faults[i]);
		struct jprof_dump *dump = dump_of(text);
		const struct jprof_dump_info *info = jprof_dump_info(dump);
		if (jprof_dump_warnings(dump) != 1 || info->stacks != 1)
			wrong += complain("%s: %zu warnings, %zu stacks", faults[i], jprof_dump_warnings(dump),
			                  info->stacks);
		for (size_t w = 0; w < jprof_dump_warnings(dump); w++) {
			assert_int_equal(jprof_dump_warning(dump, w)->line, *faults[i] == ' ' ? 5 : 4);
			assert_string_equal(jprof_dump_warning(dump, w)->path, "test.heap");
			assert_contains(jprof_dump_warning(dump, w)->text, "1 stack");
			assert_near(info->total[JPROF_INUSE_SPACE], 1000);
		}
		assert_non_null(jprof_dump_maps(dump));
		jprof_dump_free(dump);
	}
	assert_int_equal(wrong, 0);
}

/* info tells of the stacks that were read, and so do the profile's locations. */
TEST(test_a_faulty_stack_leaves_nothing_behind)
{
	static const char *const ends[] = { "@ 0x1 0x5 0x6 0x7 0x", "@ 0x1 0x5 0x6 0x7\n  t*: 1", "@ 0x1 0x5 0x6 0x7\n",
		                            "@ 0x1 0x5 0x6 0x" };
	for (size_t i = 0; i < jp_count(ends); i++) {
		char text[256];
		snprintf(text, sizeof text, "heap_v2/1\n%s%s", STACK, ends[i]);
		struct jprof_dump *dump = dump_of(text);
		assert_int_equal(jprof_dump_info(dump)->stacks, 1);
		assert_int_equal(jprof_dump_info(dump)->depth, 2);
		assert_int_equal(jprof_dump_info(dump)->addresses, 2);
		jprof_dump_free(dump);
	}
}

/* A stack without counters in mid-file holds nothing and is none of those that were read. */
TEST(test_a_stack_without_counters)
{
	struct jprof_dump *dump = dump_of("heap_v2/1\n" STACK "@ 0x7\n" STACK MAPS);
	assert_int_equal(jprof_dump_info(dump)->stacks, jprof_dump_warnings(dump) ? 1 : 2);
	assert_near(jprof_dump_info(dump)->total[JPROF_INUSE_SPACE], jprof_dump_warnings(dump) ? 1000 : 2000);
	jprof_dump_free(dump);
}

TEST(test_maps_that_are_missing_or_cut)
{
	static const struct {
		const char *end;
		size_t maps; /* lines of it that are sound */
	} cases[] = {
		{ "", 0 },
		{ "\n", 0 },
		{ "\nMAPPED_LIBRARIES:\n", 0 },
		{ "\nMAPPED_LIBRARIES:\n00400000-005", 0 },
		{ "\nMAPPED_LIBRARIES:\ngarbage\n", 0 },
		{ MAPS "00500000-006", 1 },
		{ MAPS "00500000-00600000 r-xp 00000000 08:01 4", 1 },
		{ MAPS "00500000-00600000 r-xp 00000000 08:01 43   /opt/app/li", 1 },
		{ MAPS "heap_v2/1\n" STACK MAPS, 1 },
	};
	int wrong = 0;
	for (size_t i = 0; i < jp_count(cases); i++) {
		char text[1024];
		snprintf(text, sizeof text, "heap_v2/1\n%s%s", STACK, cases[i].end);
		struct jprof_dump *dump = dump_of(text);
		const struct jprof_maps *maps = jprof_dump_maps(dump);
		if (jprof_dump_warnings(dump) != 1)
			wrong += complain("\"%s\": %zu warnings", cases[i].end, jprof_dump_warnings(dump));
		assert_near(jprof_dump_info(dump)->total[JPROF_INUSE_SPACE], 1000);
		if (!cases[i].maps != !maps || (maps && jprof_maps_count(maps) != cases[i].maps))
			wrong +=
			    complain("\"%s\": maps with %zu mappings", cases[i].end, maps ? jprof_maps_count(maps) : 0);
		jprof_dump_free(dump);
	}
	assert_int_equal(wrong, 0);
}

TEST(test_refusals)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "empty" },
		{ "\n", "no heap dump" },
		{ "%warn x\n", "no heap dump" },
		{ "words\n", "no heap dump" },
		{ "heap_v2\n" STACK MAPS, "rate" },
		{ "heap_v2/\n" STACK MAPS, "rate" },
		{ "heap_v2/x\n" STACK MAPS, "rate" },
		{ "heap_v2/512 \n" STACK MAPS, "" },
		{ "heap_v2/99999999999999999999999999\n" STACK MAPS, "" },
		{ "heap_v3/512\n" STACK MAPS, "version" },
		{ "heap profile:  1: 2 [3: 4] @ heapprofile\n", "no stack" },
		{ "\177ELF\2\1\1", "program" },
		{ "#!/bin/sh\n", "script" },
		{ "\037\213\010", "compressed" },
		{ "\xfd"
		  "7zXZ",
		  "compressed" },
		{ "\x28\xb5\x2f\xfd", "compressed" },
		{ "--- symbol\n", "symbolized" },
		{ "heap_v2/512\n", "no stack" },
		{ "heap_v2/512", "no stack" },
		{ "heap_v2/512\n  t*: 1: 2 [3: 4]\n", "no stack" },
		{ "heap_v2/512\n@ 0x1\n", "no stack" },
		{ "heap_v2/512\n@ 0x1\n  t*: 18446744073709551615: 1 [0: 0]\n" MAPS, "2^63" },
	};
	for (size_t i = 0; i < jp_count(cases); i++) {
		struct jprof_dump *dump = (void *)&dump;
		struct jprof_error err = { 0 };
		int rc = jprof_dump_parse(cases[i].text, strlen(cases[i].text), "x.heap", &dump, &err);
		if (rc != JPROF_E_FORMAT)
			fail_msg("%s: %d", cases[i].text, rc);
		assert_ptr_equal(dump, &dump);
		assert_int_equal(err.code, JPROF_E_FORMAT);
		assert_string_equal(err.path, "x.heap");
		assert_is_message(err.text);
		assert_contains(err.text, cases[i].says);
	}
	struct jprof_dump *dump;
	assert_int_equal(jprof_dump_parse(NULL, 0, NULL, &dump, NULL), JPROF_E_FORMAT);
}

/* A heap of which nothing was sampled yet. */
TEST(test_no_samples)
{
	struct jprof_dump *dump = dump_of("heap_v2/524288\n  t*: 0: 0 [0: 0]\n  t0: 0: 0 [0: 0]\n" MAPS);
	assert_int_equal(jprof_dump_info(dump)->stacks, 0);
	assert_int_equal(jprof_dump_info(dump)->threads, 1);
	assert_near(jprof_dump_info(dump)->total[JPROF_INUSE_SPACE], 0);
	assert_int_equal(jprof_dump_warnings(dump), 0);
	jprof_dump_free(dump);
}

TEST(test_probe)
{
	static const struct {
		const char *text;
		bool is;
	} cases[] = {
		{ "heap_v2/524288\n  t*:", true },
		{ "%warn x\n% y\nheap_v2/1\n", true },
		{ "heap_v3/1\n", true },
		{ "heap_v2/52", true },
		{ "heap", false },
		{ "", false },
		{ "\177ELF", false },
		{ "\nheap_v2/1\n", false },
		{ "% only\n", false },
	};
	for (size_t i = 0; i < jp_count(cases); i++)
		assert_int_equal(jprof_dump_probe(cases[i].text, strlen(cases[i].text)), cases[i].is);
}

TEST(test_a_line_without_end)
{
	enum { size = 10000000 };
	static const char *const starts[] = { "", "heap_v2/1\n", "heap_v2/1\n@ 0x1\n  t*: 1: 100 [0: 0]\n@ 0x" };
	char *text = malloc(size);
	for (size_t i = 0; i < jp_count(starts); i++) {
		struct jprof_dump *dump = NULL;
		struct jprof_error err = { 0 };
		memset(text, '7', size);
		memcpy(text, starts[i], strlen(starts[i]));
		int rc = jprof_dump_parse(text, size, "x", &dump, &err);
		assert_int_equal(rc, i < 2 ? JPROF_E_FORMAT : 0);
		if (!rc)
			assert_int_equal(jprof_dump_warnings(dump), 1);
		jprof_dump_free(dump);
	}
	free(text);
}

/* totals.txt: what Perl jeprof prints, truncated towards zero. */
TEST(test_totals_of_real_dumps)
{
	static const char *const counters[] = { "inuse_space", "inuse_objects", "alloc_space", "alloc_objects" };
	char name[256], counter[64], path[512];
	unsigned long long total;
	int lines = 0;
	snprintf(path, sizeof path, "%s/heaps/totals.txt", SAMPLES);
	FILE *in = fopen(path, "r");
	assert_non_null(in);
	while (fscanf(in, "%255s %63s %llu", name, counter, &total) == 3) {
		struct jprof_dump *dump = sample(name);
		for (int c = 0; c < JPROF_COUNTERS; c++)
			if (!strcmp(counter, counters[c]))
				assert_int_equal((uint64_t)jprof_dump_info(dump)->total[c], total);
		jprof_dump_free(dump);
		lines++;
	}
	fclose(in);
	assert_true(lines >= 32);
}

TEST(test_thread_names_of_a_real_dump)
{
	static const char *const names[] = {
		"",          "beta worker",     NULL, "", "it's \"$(x)\"; \\n", "alpha", "MAPPED_LIBRARIES:",
		"@ 0x1 0x2", "t*: 1: 2 [3: 4]",
	};
	struct jprof_dump *dump = sample("jemalloc-5.3.0.heap");
	assert_int_equal(jprof_dump_info(dump)->threads, jp_count(names));
	double sum = 0;
	for (size_t i = 0; i < jp_count(names); i++) {
		assert_int_equal(jprof_dump_thread(dump, i)->id, i);
		if (names[i])
			assert_string_equal(jprof_dump_thread(dump, i)->name, names[i]);
		else
			assert_contains(jprof_dump_thread(dump, i)->name, "blanks");
		sum += jprof_dump_thread(dump, i)->total[JPROF_INUSE_SPACE];
	}
	/* The formula is not linear, but the parts are of the order of the whole. */
	assert_true(sum > 0.9 * jprof_dump_info(dump)->total[JPROF_INUSE_SPACE]);
	jprof_dump_free(dump);
}

/* "Stacks" of the faults' README: those with sound counters before the fault. */
TEST(test_faulty_samples)
{
	static const struct {
		const char *name;
		size_t stacks; /* 0: refused */
		size_t warnings;
	} cases[] = {
		{ "empty", 0, 0 },
		{ "text", 0, 0 },
		{ "garbage", 0, 0 },
		{ "header-only", 0, 0 },
		{ "heap-v3", 0, 0 },
		{ "no-rate", 0, 0 },
		{ "rate-0", 1, 1 },
		{ "rate-huge", 0, 0 },
		{ "cut-stack", 2, 1 },
		{ "cut-after-stack", 2, 1 },
		{ "cut-count", 1, 1 },
		{ "no-maps", 5, 1 },
		{ "cut-maps", 5, 1 },
		{ "after-maps", 5, 1 },
		{ "counters-max", 0, 0 },
		{ "counters-over", 0, 0 },
		{ "counters-negative", 0, 0 },
		{ "counters-trailing", 0, 0 },
		{ "objects-without-bytes", 1, 1 },
		{ "bytes-without-objects", 1, 0 },
		{ "address-30-digits", 0, 0 },
		{ "address-words", 0, 0 },
		{ "maps-odd", 1, 1 },
		{ "names", 1, 0 },
	};
	int wrong = 0;
	for (size_t i = 0; i < jp_count(cases); i++) {
		char path[512];
		struct jprof_dump *dump = NULL;
		struct jprof_error err = { 0 };
		snprintf(path, sizeof path, "%s/heaps/faults/%s.heap", SAMPLES, cases[i].name);
		int rc = jprof_dump_open(path, &dump, &err);
		if (rc != (cases[i].stacks ? 0 : JPROF_E_FORMAT))
			wrong += complain("%s: %d %s", cases[i].name, rc, err.text);
		if (rc)
			assert_is_message(err.text);
		else if (jprof_dump_info(dump)->stacks != cases[i].stacks ||
		         jprof_dump_warnings(dump) != cases[i].warnings)
			wrong += complain("%s: %zu stacks, %zu warnings", cases[i].name, jprof_dump_info(dump)->stacks,
			                  jprof_dump_warnings(dump));
		jprof_dump_free(dump);
	}
	assert_int_equal(wrong, 0);
}
