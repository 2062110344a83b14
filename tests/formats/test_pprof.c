/* profile.proto of others: built here message by message. */
#include "formats.h"
#include "input/pprof.h"
#include "ops/merge.h"

/* ---- a writer of its own: that of jprof must not be the judge ---- */

static void varint(struct jp_strbuf *out, uint64_t value)
{
	do {
		unsigned char byte = (unsigned char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		jp_strbuf_add(out, &byte, 1);
	} while (value >>= 7);
}

static void number(struct jp_strbuf *out, unsigned field, uint64_t value)
{
	varint(out, field << 3);
	varint(out, value);
}

static void bytes(struct jp_strbuf *out, unsigned field, const void *data, size_t len)
{
	varint(out, field << 3 | 2);
	varint(out, len);
	jp_strbuf_add(out, data, len);
}

/* A message of up to six numbers in fields 1 to 6; 0 is left out. */
static void numbers(struct jp_strbuf *out, unsigned field, const uint64_t values[6])
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) inner = { 0 };
	for (unsigned i = 0; i < 6; i++)
		if (values[i])
			number(&inner, i + 1, values[i]);
	bytes(out, field, inner.text, inner.len);
}

#define N(...) ((const uint64_t[6]){ __VA_ARGS__ })

/* Strings by their index: see texts. */
enum {
	EMPTY,
	SPACE,
	BYTES,
	OBJECTS,
	COUNT,
	CPU,
	NANOS,
	THREAD,
	ALPHA,
	MAIN,
	LEAF,
	FILE_C,
	SERVER,
	BUILD_A,
	BUILD_B,
	COMMENT,
	MANGLED,
	SHORT,
	INUSE_SPACE,
	T7,
};
static const char *const texts[] = { "",          "space",      "bytes",       "objects",     "count",
	                             "cpu",       "nanos",      "thread",      "alpha",       "main",
	                             "main.leaf", "leaf.c",     "/opt/server", "aa",          "bb",
	                             "hello",     "_ZN2ns1fEi", "ns::f",       "inuse_space", "t7" };

static void strings(struct jp_strbuf *out)
{
	for (size_t i = 0; i < jp_count(texts); i++)
		bytes(out, 6, texts[i], strlen(texts[i]));
}

/* A location with one line; mapping, address, function and line may be 0. */
static void location(struct jp_strbuf *out, uint64_t id, uint64_t mapping, uint64_t address, uint64_t function,
                     uint64_t line)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) inner = { 0 };
	number(&inner, 1, id);
	number(&inner, 2, mapping);
	number(&inner, 3, address);
	if (function)
		numbers(&inner, 4, N(function, line));
	bytes(out, 4, inner.text, inner.len);
}

static void sample(struct jp_strbuf *out, const uint64_t ids[2], uint64_t value, const uint64_t *label)
{
	struct jp_strbuf jp_cleanup(jp_strbuf_release) inner = { 0 };
	for (int i = 0; i < 2; i++)
		if (ids[i])
			number(&inner, 1, ids[i]);
	number(&inner, 2, value);
	if (label)
		numbers(&inner, 3, label);
	bytes(out, 2, inner.text, inner.len);
}

/* leaf (1) called by main (2), neither with an address: 1000 bytes. */
static struct jp_strbuf simple(uint64_t type, uint64_t unit)
{
	struct jp_strbuf out = { 0 };
	numbers(&out, 1, N(type, unit));
	sample(&out, N(7, 3), 1000, NULL);
	location(&out, 7, 0, 0, 11, 5);
	location(&out, 3, 0, 0, 12, 6);
	numbers(&out, 5, N(11, LEAF, LEAF, FILE_C));
	numbers(&out, 5, N(12, MAIN, MAIN, FILE_C));
	strings(&out);
	return out;
}

static struct jprof_profile *named(const struct jp_strbuf *proto, const char *thread)
{
	struct jprof_profile_opts opts = { .size = sizeof opts, .thread = thread };
	struct jprof_profile *p = must_parse(proto->text, proto->len, &opts);
	assert_int_equal(jprof_profile_symbolize(p, &no_files_here, NULL), 0);
	return p;
}

static double cum(const struct jprof_profile *p, enum jprof_granularity by, const char *row)
{
	return cum_of_row(p, (struct jprof_view_opts){ .counter = JPROF_INUSE_SPACE, .granularity = by }, row);
}

/* ---- the tests ---- */

TEST(test_types)
{
	static const uint64_t good[][2] = { { SPACE, BYTES }, { BYTES, BYTES }, { INUSE_SPACE, BYTES } };
	for (size_t i = 0; i < jp_count(good); i++) {
		struct jp_strbuf proto = simple(good[i][0], good[i][1]);
		struct jprof_profile *p = must_parse(proto.text, proto.len, NULL);
		assert_int_equal(jprof_profile_notes(p), 0);
		assert_true(jprof_profile_total(p, JPROF_INUSE_SPACE) == 1000);
		assert_true(jprof_profile_total(p, JPROF_INUSE_OBJECTS) == 0);
		assert_string_equal(jprof_profile_info(p)->format, "profile.proto");
		jprof_profile_free(p);
		jp_strbuf_release(&proto);
	}
	struct jp_strbuf cpu = simple(CPU, NANOS), seconds = simple(SPACE, NANOS);
	must_refuse(cpu.text, cpu.len, "holds cpu/nanos, and no memory");
	must_refuse(seconds.text, seconds.len, "holds space/nanos");
	jp_strbuf_release(&cpu);
	jp_strbuf_release(&seconds);
}

/* Locations without addresses are known by their names: profiles of such meet. */
TEST(test_without_addresses)
{
	struct jp_strbuf proto = simple(SPACE, BYTES);
	struct jprof_profile *a = must_parse(proto.text, proto.len, NULL), *b = must_parse(proto.text, proto.len, NULL);
	assert_int_equal(jprof_profile_add(a, b, NULL), 0);
	assert_int_equal(jp_location_count(a), 2);
	assert_int_equal(jp_sample_count(a), 1);
	assert_int_equal(jp_profile_merge(a, b, -1.5, NULL), 0);
	assert_int_equal(jprof_profile_symbolize(a, &no_files_here, NULL), 0);
	assert_true(cum(a, JPROF_BY_LINE, "main.leaf leaf.c:5") == 500);
	assert_true(cum(a, JPROF_BY_LINE, "main leaf.c:6") == 500);
	jprof_profile_free(a);
	jprof_profile_free(b);
	jp_strbuf_release(&proto);
}

/* One place, called by two names in one input: both stay. */
TEST(test_variants)
{
	struct jp_strbuf proto = { 0 };
	numbers(&proto, 1, N(SPACE, BYTES));
	numbers(&proto, 3, N(1, 0x1000, 0x9000, 0, SERVER));
	sample(&proto, N(1), 1, NULL);
	sample(&proto, N(2), 2, NULL);
	sample(&proto, N(3), 4, NULL);
	location(&proto, 1, 1, 0x2000, 1, 1);
	location(&proto, 2, 1, 0x2000, 2, 1);
	location(&proto, 3, 1, 0x2000, 1, 1);
	numbers(&proto, 5, N(1, LEAF, LEAF));
	numbers(&proto, 5, N(2, MAIN, MAIN));
	strings(&proto);
	struct jprof_profile *p = named(&proto, NULL), *other = must_parse(proto.text, proto.len, NULL);
	assert_true(cum(p, JPROF_BY_FUNCTION, "main.leaf") == 5);
	assert_true(cum(p, JPROF_BY_FUNCTION, "main") == 2);
	assert_int_equal(jp_location_count(p), 2);
	jprof_profile_free(p);
	p = must_parse(proto.text, proto.len, NULL);
	assert_int_equal(jprof_profile_difference(p, other, NULL), 0);
	assert_int_equal(jp_sample_count(p), 2);
	for (uint32_t i = 0; i < jp_sample_count(p); i++)
		assert_true(jprof_profile_value(p, i, JPROF_INUSE_SPACE) == 0);
	jprof_profile_free(p);
	jprof_profile_free(other);
	jp_strbuf_release(&proto);
}

/* Runtime addresses become offsets; a mapping of everything has offsets already. */
TEST(test_addresses)
{
	struct jp_strbuf real = { 0 }, image = { 0 };
	numbers(&real, 1, N(SPACE, BYTES));
	numbers(&real, 3, N(9, 0x7f0000001000, 0x7f0000009000, 0x3000, SERVER, BUILD_A));
	sample(&real, N(4), 1, NULL);
	location(&real, 4, 9, 0x7f0000001234, 0, 0);
	strings(&real);
	struct jprof_profile *p = named(&real, NULL);
	assert_int_equal(p->locations[0].offset, 0x3234);
	assert_string_equal(jp_string(p, p->objects[p->locations[0].object].build_id), "aa");
	assert_true(cum(p, JPROF_BY_FUNCTION, "server+0x3234") == 1);
	assert_true(cum(p, JPROF_BY_ADDRESS, "00007f0000001234 server+0x3234") == 1);
	jprof_profile_free(p);
	numbers(&image, 1, N(SPACE, BYTES));
	numbers(&image, 3, N(9, 0, UINT64_MAX, 0, SERVER));
	sample(&image, N(4), 1, NULL);
	location(&image, 4, 9, 0x3234, 0, 0);
	strings(&image);
	p = named(&image, NULL);
	assert_true(p->objects[p->locations[0].object].image);
	assert_int_equal(p->mapping_count, 0);
	assert_true(cum(p, JPROF_BY_FUNCTION, "server+0x3234") == 1);
	jprof_profile_free(p);
	jp_strbuf_release(&real);
	jp_strbuf_release(&image);
}

/* Bytes of a sample without locations are in a row, as those of a dump's stack without addresses are. */
TEST(test_no_locations)
{
	struct jp_strbuf proto = simple(SPACE, BYTES);
	sample(&proto, N(0, 0), 500, NULL);
	struct jprof_profile *p = named(&proto, NULL);
	assert_true(cum(p, JPROF_BY_FUNCTION, "[without addresses]+0x0") == 500);
	assert_true(jprof_profile_total(p, JPROF_INUSE_SPACE) == 1500);
	jprof_profile_free(p);
	jp_strbuf_release(&proto);
}

/* Two builds of a file do not meet by offset, and a note says so. */
TEST(test_builds)
{
	struct jprof_profile *p[3];
	static const uint64_t builds[] = { BUILD_A, BUILD_B, 0 };
	for (int i = 0; i < 3; i++) {
		struct jp_strbuf proto = { 0 };
		numbers(&proto, 1, N(SPACE, BYTES));
		numbers(&proto, 3, N(1, 0x1000, 0x9000, 0, SERVER, builds[i]));
		sample(&proto, N(1), 5, NULL);
		location(&proto, 1, 1, 0x2000, 1, 1);
		numbers(&proto, 5, N(1, LEAF, LEAF));
		strings(&proto);
		p[i] = must_parse(proto.text, proto.len, NULL);
		jp_strbuf_release(&proto);
	}
	assert_int_equal(jp_profile_merge(p[0], p[2], -1, NULL), 0);
	assert_int_equal(jprof_profile_notes(p[0]), 0);
	assert_true(jprof_profile_value(p[0], 0, JPROF_INUSE_SPACE) == 0);
	assert_int_equal(jp_profile_merge(p[0], p[1], 1, NULL), 0);
	assert_noted(p[0], "two builds");
	assert_int_equal(jp_sample_count(p[0]), 2);
	assert_int_equal(jprof_profile_symbolize(p[0], &no_files_here, NULL), 0);
	assert_true(cum(p[0], JPROF_BY_FUNCTION, "main.leaf") == 5);
	for (int i = 0; i < 3; i++)
		jprof_profile_free(p[i]);
}

TEST(test_threads)
{
	struct jp_strbuf proto = { 0 };
	numbers(&proto, 1, N(SPACE, BYTES));
	sample(&proto, N(1), 1, N(THREAD, ALPHA));
	sample(&proto, N(1), 2, N(THREAD, 0, 7));
	sample(&proto, N(1), 4, NULL);
	location(&proto, 1, 0, 0, 1, 1);
	numbers(&proto, 5, N(1, LEAF, LEAF));
	strings(&proto);
	static const struct {
		const char *wanted;
		double total;
		uint32_t samples;
	} cases[] = { { NULL, 7, 1 }, { "*", 7, 3 }, { "alpha", 1, 1 }, { "7", 2, 1 }, { "t7", 2, 1 } };
	for (size_t i = 0; i < jp_count(cases); i++) {
		struct jprof_profile *p = named(&proto, cases[i].wanted);
		assert_true(jprof_profile_total(p, JPROF_INUSE_SPACE) == cases[i].total);
		assert_int_equal(jp_sample_count(p), cases[i].samples);
		jprof_profile_free(p);
	}
	struct jprof_profile_opts opts = { .size = sizeof opts, .thread = "beta" };
	struct jprof_profile *p;
	struct jprof_error err;
	assert_int_equal(jprof_profile_parse(proto.text, proto.len, "x", &opts, &p, &err), JPROF_E_ARGUMENT);
	jp_strbuf_release(&proto);
}

TEST(test_mangled)
{
	static const uint64_t pairs[][2] = { { SHORT, MANGLED }, { MANGLED, MANGLED }, { MANGLED, 0 }, { 0, MANGLED } };
	for (size_t i = 0; i < jp_count(pairs); i++) {
		struct jp_strbuf proto = { 0 };
		numbers(&proto, 1, N(SPACE, BYTES));
		sample(&proto, N(1), 1, NULL);
		location(&proto, 1, 0, 0, 1, 1);
		numbers(&proto, 5, N(1, pairs[i][0], pairs[i][1]));
		strings(&proto);
		struct jprof_profile *p = named(&proto, NULL);
		assert_true(cum(p, JPROF_BY_FUNCTION, "ns::f") == 1);
		assert_string_equal(jp_string(p, p->functions[0].name), "ns::f(int)");
		assert_string_equal(jp_string(p, p->functions[0].system), "_ZN2ns1fEi");
		jprof_profile_free(p);
		jp_strbuf_release(&proto);
	}
}

/* The sound part with one note, or an error, at every length. */
TEST(test_cuts)
{
	struct jp_strbuf proto = { 0 };
	strings(&proto);
	numbers(&proto, 1, N(SPACE, BYTES));
	location(&proto, 1, 0, 0, 1, 1);
	numbers(&proto, 5, N(1, LEAF, LEAF));
	sample(&proto, N(1), 1, NULL);
	size_t one = proto.len;
	sample(&proto, N(1), 2, NULL);
	sample(&proto, N(1), 4, NULL);
	number(&proto, 12, 512);
	for (size_t len = 0; len < proto.len; len++) {
		struct jprof_error err = { 0 };
		struct jprof_profile *p;
		if (jprof_profile_parse(proto.text, len, "test", NULL, &p, &err)) {
			assert_true(*err.text && len < one);
			continue;
		}
		double total = jprof_profile_total(p, JPROF_INUSE_SPACE);
		assert_true(len >= one ? total >= 1 && (total == 1 || total == 3 || total == 7) : total == 0);
		assert_true(jprof_profile_notes(p) <= 1);
		jprof_profile_free(p);
	}
	jp_strbuf_release(&proto);
}

TEST(test_wrong_ids)
{
	static const uint64_t wrong[][3] = { { 99, 0, 1 },
		                             { 1, 88, 1 },
		                             { 1, 0, 77 } }; /* location, mapping, function */
	static const char *const says[] = { "location 99", "mapping 88", "function 77" };
	for (size_t i = 0; i < jp_count(wrong); i++) {
		struct jp_strbuf proto = simple(SPACE, BYTES);
		sample(&proto, N(wrong[i][0]), 5, NULL);
		sample(&proto, N(7), 5, NULL);
		location(&proto, 1, wrong[i][1], 1, wrong[i][2], 1);
		numbers(&proto, 5, N(1, LEAF));
		struct jprof_profile *p = must_parse(proto.text, proto.len, NULL);
		assert_noted(p, says[i]);
		assert_noted(p, "sample 2");
		assert_true(jprof_profile_total(p, JPROF_INUSE_SPACE) == 1000);
		jprof_profile_free(p);
		jp_strbuf_release(&proto);
	}
	struct jp_strbuf proto = { 0 };
	numbers(&proto, 1, N(SPACE, BYTES));
	sample(&proto, N(5), 1, NULL);
	strings(&proto);
	must_refuse(proto.text, proto.len, "sample 1 names location 5");
	jp_strbuf_release(&proto);
}

/* The rate tells how many samples an estimate was made from. */
/* A sample that cannot be right ends the reading of samples: 100 million empty ones, 194 KB packed, take no memory. */
TEST(test_empty_samples)
{
	enum { many = 1000 };
	const uint64_t right[] = { 1, 2 };
	for (size_t sound = 0; sound < 2; sound++) {
		struct jp_strbuf jp_cleanup(jp_strbuf_release) all = { 0 };
		struct jp_pprof p;
		for (size_t i = 0; i < sound; i++)
			bytes(&all, 2, (const char[]){ 0x10, (char)right[0], 0x10, (char)right[1] }, 4);
		for (int i = 0; i < many; i++)
			bytes(&all, 2, "", 0);
		strings(&all);
		assert_int_equal(jp_pprof_parse(all.text, all.len, &p), 0);
		assert_false(p.cut);
		assert_int_equal(p.samples.count, sound + 1);
		assert_int_equal(p.strings.count, jp_count(texts));
		jp_pprof_release(&p);
	}
}

TEST(test_rate)
{
	struct jp_strbuf proto = { 0 }, inner = { 0 };
	numbers(&proto, 1, N(OBJECTS, COUNT));
	numbers(&proto, 1, N(SPACE, BYTES));
	numbers(&proto, 11, N(SPACE, BYTES));
	number(&proto, 12, 1024);
	number(&proto, 9, UINT64_C(5000000000));
	number(&inner, 1, 1);
	number(&inner, 2, 100);
	number(&inner, 2, 102400);
	bytes(&proto, 2, inner.text, inner.len);
	location(&proto, 1, 0, 0, 1, 1);
	numbers(&proto, 5, N(1, LEAF, LEAF));
	strings(&proto);
	struct jprof_profile *p = must_parse(proto.text, proto.len, NULL);
	assert_int_equal(p->rate, 1024);
	assert_int_equal(p->mtime, 5);
	assert_true(jprof_profile_total(p, JPROF_INUSE_OBJECTS) == 100);
	double n = jp_sample_values(&p->samples, &p->samples.items[0]).plus.n[0]; /* 100 (1 - 1/e) */
	assert_true(n == 63);
	jprof_profile_free(p);
	jp_strbuf_release(&proto);
	jp_strbuf_release(&inner);
}
