/* profile.proto is the model's own round trip: what is written of any sample is read back the same. */
#include <dirent.h>

#include "formats.h"
#include "input/pprof.h"
#include "input/unpack.h"
#include "view/view.h"

enum { max_files = 64 };

static char *files[max_files];
static size_t file_count;

/* The file has whole numbers: so has what it is compared with. */
static void round_samples(struct jprof_profile *p)
{
	for (uint32_t i = 0; i < jp_sample_count(p); i++)
		for (int c = 0; c < JPROF_COUNTERS; c++) {
			struct jp_values *sum = jp_sample_sum(&p->samples, &p->samples.items[i]);
			assert_non_null(sum);
			sum->value[c] = (double)llround(sum->value[c]);
		}
}

static struct jprof_profile *open_sample(const char *path, const char *thread)
{
	struct jprof_profile_opts opts = { .size = sizeof opts, .thread = thread };
	struct jprof_profile *profile;
	struct jprof_error err = { 0 };
	if (!jprof_profile_open(path, &opts, &profile, &err))
		return profile;
	assert_true(strlen(err.text) > 0);
	return NULL;
}

static void name(struct jprof_profile *p, const char *path)
{
	struct jprof_symbolize_opts opts = { .size = sizeof opts,
		                             .sysroot = strstr(path, "/heaps/") ? SAMPLES "/heaps/sysroot"
		                                                                : SAMPLES "/cases/sysroot" };
	assert_int_equal(jprof_profile_symbolize(p, &opts, NULL), 0);
}

/* Looks for no file: of what was written with its names all are there. */
static struct jprof_profile *as_it_is(struct jprof_profile *p)
{
	const struct jprof_symbolize_opts opts = { .size = sizeof opts, .no_lookup = true };
	assert_int_equal(jprof_profile_symbolize(p, &opts, NULL), 0);
	return p;
}

static struct jprof_profile *again(const struct jprof_profile *p, enum jprof_fold fold, bool normalize,
                                   const char *thread)
{
	struct jprof_profile_opts opts = { .size = sizeof opts, .thread = thread };
	struct jp_strbuf proto = rendered(p, "proto", normalize, fold), twice = rendered(p, "proto", normalize, fold);
	assert_int_equal(proto.len, twice.len);
	assert_memory_equal(proto.text, twice.text, proto.len);
	struct jprof_profile *read = must_parse(proto.text, proto.len, &opts);
	jp_strbuf_release(&proto);
	jp_strbuf_release(&twice);
	return read;
}

static void same_threads(const struct jprof_profile *a, const struct jprof_profile *b, enum jprof_fold fold)
{
	struct jprof_view *va = folded(a, fold), *vb = folded(b, JPROF_FOLD_RAW);
	assert_int_equal(va->stack_count, vb->stack_count);
	for (uint32_t i = 0; i < va->stack_count; i++)
		assert_string_equal(jp_string(a, va->stacks[i].thread), jp_string(b, vb->stacks[i].thread));
	jprof_view_free(va);
	jprof_view_free(vb);
}

static void same_objects(const struct jprof_profile *a, const struct jprof_profile *b, enum jprof_fold fold)
{
	struct jprof_view *va = folded(a, fold), *vb = folded(b, JPROF_FOLD_RAW);
	struct jprof_coverage *ca, *cb;
	assert_int_equal(jprof_coverage_new(va, &ca, NULL), 0);
	assert_int_equal(jprof_coverage_new(vb, &cb, NULL), 0);
	if (fabs(jprof_coverage_named(ca) - jprof_coverage_named(cb)) > 1e-9)
		fail_msg("named: %g and %g", jprof_coverage_named(ca), jprof_coverage_named(cb));
	for (size_t i = 0, j; i < jprof_coverage_count(cb); i++) {
		const struct jprof_coverage_file *f = jprof_coverage_at(cb, i);
		for (j = 0; strcmp(f->path, jprof_coverage_at(ca, j)->path); j++)
			assert_true(j + 1 < jprof_coverage_count(ca));
		assert_string_equal(f->build_id, jprof_coverage_at(ca, j)->build_id);
	}
	jprof_coverage_free(ca);
	jprof_coverage_free(cb);
	jprof_view_free(va);
	jprof_view_free(vb);
}

static void check_named(const char *path, enum jprof_fold fold, const char *thread)
{
	struct jprof_profile *p = open_sample(path, thread);
	if (!p)
		return;
	name(p, path);
	round_samples(p);
	struct jprof_profile *read = again(p, fold, false, thread), *less = again(p, fold, false, thread),
			     *image = as_it_is(again(p, fold, true, thread));
	assert_int_equal(jprof_profile_difference(less, read, NULL), 0);
	as_it_is(read);
	assert_same_rows(p, read, true, true, fold, path);
	assert_same_rows(p, image, true, false, fold, path);
	same_objects(p, read, fold);
	assert_int_equal(p->mtime, read->mtime);
	assert_int_equal(p->rate, read->rate);
	if (thread)
		same_threads(p, read, fold);
	for (uint32_t i = 0; i < jp_sample_count(less); i++)
		for (int c = 0; c < JPROF_COUNTERS; c++)
			assert_true(jprof_profile_value(less, i, c) == 0);
	jprof_profile_free(less);
	jprof_profile_free(p);
	jprof_profile_free(read);
	jprof_profile_free(image);
}

TEST(test_named)
{
	for (size_t i = 0; i < file_count; i++)
		check_named(files[i], i % 2 ? JPROF_FOLD_ALLOC : JPROF_FOLD_NONE, NULL);
}

TEST(test_threads)
{
	check_named(SAMPLES "/heaps/jemalloc-5.3.0.heap", JPROF_FOLD_NONE, "*");
	check_named(SAMPLES "/heaps/jemalloc-5.3.1.heap", JPROF_FOLD_NONE, "*");
}

/* Ruby's frames, their owners and their kinds are in the file. */
TEST(test_ruby)
{
	static const char *const dumps[][2] = { { SAMPLES "/tables/ruby31.0.heap", SAMPLES "/tables/ruby31.1.heap" },
		                                { SAMPLES "/tables/ruby33.0.heap", SAMPLES "/tables/ruby33.1.heap" } };
	for (size_t i = 0; i < jp_count(dumps); i++)
		for (size_t k = 0; k < 2; k++) {
			struct jprof_profile *p = open_sample(dumps[i][k], NULL);
			assert_true(jprof_profile_info(p)->has_ruby);
			jprof_profile_free(p);
			check_named(dumps[i][k], k ? JPROF_FOLD_ALLOC : JPROF_FOLD_NONE, NULL);
		}
}

/* Two files with names meet as their two dumps do. */
TEST(test_ruby_difference)
{
	static const char *const paths[] = { SAMPLES "/tables/ruby31.0.heap", SAMPLES "/tables/ruby31.1.heap" };
	struct jprof_profile *dumps[2], *files[2];
	for (size_t i = 0; i < 2; i++) {
		struct jprof_profile *p = open_sample(paths[i], NULL);
		dumps[i] = open_sample(paths[i], NULL);
		name(p, paths[i]);
		round_samples(p);
		round_samples(dumps[i]);
		files[i] = again(p, JPROF_FOLD_NONE, false, NULL);
		jprof_profile_free(p);
	}
	assert_int_equal(jprof_profile_difference(dumps[1], dumps[0], NULL), 0);
	assert_int_equal(jprof_profile_difference(files[1], files[0], NULL), 0);
	name(dumps[1], paths[1]);
	assert_same_rows(dumps[1], as_it_is(files[1]), true, false, JPROF_FOLD_NONE, paths[1]);
	for (size_t i = 0; i < 2; i++) {
		jprof_profile_free(dumps[i]);
		jprof_profile_free(files[i]);
	}
}

/* Without names the places must be the same: what is named afterwards, then, is too. */
TEST(test_unnamed)
{
	static const char *const paths[] = { SAMPLES "/heaps/jemalloc-5.3.0.heap", SAMPLES "/heaps/maps.heap",
		                             SAMPLES "/cases/ruby31/fiddle.1.heap" };
	for (size_t i = 0; i < jp_count(paths); i++) {
		struct jprof_profile *p = open_sample(paths[i], NULL), *bare = open_sample(paths[i], NULL);
		round_samples(p);
		round_samples(bare);
		struct jprof_profile *read = again(as_it_is(bare), JPROF_FOLD_RAW, false, NULL);
		name(p, paths[i]);
		/* The allocator is not guessed in what jprof wrote; here it is still in. */
		for (uint32_t o = 0; o < jp_object_count(read); o++)
			if (!strcmp(jp_string(read, read->objects[o].path),
			            jp_string(p, p->objects[p->allocator_hint].path)))
				read->allocator_hint = o;
		name(read, paths[i]);
		assert_same_rows(p, read, true, true, JPROF_FOLD_RAW, paths[i]);
		jprof_profile_free(bare);
		jprof_profile_free(p);
		jprof_profile_free(read);
	}
}

TEST(test_difference)
{
	const char *path = SAMPLES "/cases/ruby31/hash.1.heap";
	struct jprof_profile *p = open_sample(path, NULL),
			     *base = open_sample(SAMPLES "/cases/ruby31/hash.0.heap", NULL);
	assert_int_equal(jprof_profile_difference(p, base, NULL), 0);
	name(p, path);
	round_samples(p);
	struct jprof_profile *read = as_it_is(again(p, JPROF_FOLD_ALLOC, false, NULL));
	assert_same_rows(p, read, true, true, JPROF_FOLD_ALLOC, path);
	assert_true(jprof_profile_total(read, JPROF_INUSE_SPACE) < 40e6);
	jprof_profile_free(p);
	jprof_profile_free(base);
	jprof_profile_free(read);
}

static double cum_of(const struct jprof_view *view, const char *name)
{
	for (uint32_t i = 0; i < view->row_count; i++)
		if (!strcmp(view->rows[i].name, name))
			return view->rows[i].cum;
	return 0;
}

/* Profiles that came with names of different fold levels have different stacks; their rows meet by name: each has what
 * both have under it, and no more of its own than in all. */
TEST(test_fold_levels_meet_by_name)
{
	const char *path = SAMPLES "/cases/ruby31/cext.1.heap";
	struct jprof_profile *p = open_sample(path, NULL);
	name(p, path);
	round_samples(p);
	struct jprof_profile *none = as_it_is(again(p, JPROF_FOLD_NONE, false, NULL)),
			     *vm = as_it_is(again(p, JPROF_FOLD_VM, false, NULL));
	struct jprof_profile *both = again(p, JPROF_FOLD_NONE, false, NULL),
			     *more = again(p, JPROF_FOLD_VM, false, NULL);
	assert_int_equal(jprof_profile_add(both, more, NULL), 0);
	as_it_is(both);
	struct jprof_view *a = folded(none, JPROF_FOLD_RAW), *b = folded(vm, JPROF_FOLD_RAW),
			  *sum = folded(both, JPROF_FOLD_RAW);
	assert_true(sum->row_count > 20 && a->row_count != b->row_count);
	for (uint32_t i = 0; i < sum->row_count; i++) {
		const struct jprof_row *row = &sum->rows[i];
		if (row->flat > row->cum || row->cum != cum_of(a, row->name) + cum_of(b, row->name))
			fail_msg("%s: flat %f, cum %f", row->name, row->flat, row->cum);
	}
	assert_true(sum->info.total == a->info.total + b->info.total);
	struct jprof_view *views[] = { a, b, sum };
	struct jprof_profile *profiles[] = { p, none, vm, both, more };
	for (size_t i = 0; i < 3; i++)
		jprof_view_free(views[i]);
	for (size_t i = 0; i < 5; i++)
		jprof_profile_free(profiles[i]);
}

static bool string_is(const struct jp_pprof *p, uint64_t index, const char *text)
{
	struct jp_span s;
	assert_true(jp_pprof_string(p, index, &s));
	return s.len == strlen(text) && jp_span_starts(s, text);
}

/* Ids count up from 1 in the order of first use; Parca takes nothing else. */
static void check_ids(const struct jp_pprof *p)
{
	size_t locations = 0, functions = 0;
	for (size_t i = 0; i < p->mappings.count; i++)
		assert_int_equal(p->mappings.items[i].id, i + 1);
	for (size_t i = 0; i < p->locations.count; i++)
		assert_int_equal(p->locations.items[i].id, i + 1);
	for (size_t i = 0; i < p->functions.count; i++)
		assert_int_equal(p->functions.items[i].id, i + 1);
	for (size_t i = 0; i < p->ids.count; i++) {
		assert_true(p->ids.items[i] >= 1 && p->ids.items[i] <= locations + 1);
		locations += p->ids.items[i] == locations + 1;
	}
	for (size_t i = 0; i < p->lines.count; i++) {
		assert_true(p->lines.items[i].function >= 1 && p->lines.items[i].function <= functions + 1);
		functions += p->lines.items[i].function == functions + 1;
	}
	assert_int_equal(locations, p->locations.count);
	assert_int_equal(functions, p->functions.count);
}

static void check_layout(const char *path, const char *thread, const char *const *types, size_t type_count)
{
	struct jprof_profile *profile = open_sample(path, thread);
	name(profile, path);
	struct jp_strbuf proto = rendered(profile, "proto", false, JPROF_FOLD_ALLOC), plain = { 0 };
	struct jprof_error fault = { 0 };
	struct jp_pprof p;
	static const unsigned char no_time[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0 };
	assert_memory_equal(proto.text, no_time, sizeof no_time);
	assert_int_equal(jp_unpack(proto.text, proto.len, "", &jp_unpack_default, &plain, &fault, NULL), 0);
	assert_int_equal(jp_pprof_parse(plain.text, plain.len, &p), 0);
	assert_false(p.cut || fault.code);
	check_ids(&p);
	assert_int_equal(p.strings.items[0].len, 0);
	assert_int_equal(p.types.count, type_count);
	for (size_t i = 0; i < type_count; i++)
		assert_true(string_is(&p, p.types.items[i].type_s, types[i]));
	assert_int_equal(p.period, profile->rate);
	assert_int_equal(p.time_nanos, (int64_t)profile->mtime * 1000000000);
	assert_true(string_is(&p, p.mappings.items[0].file_s,
	                      strstr(path, "ruby31") ? "/usr/bin/ruby3.1" : "/tmp/jprof-samples/threads"));
	for (size_t i = 0; i < p.samples.count; i++) {
		const struct jp_pprof_sample *s = &p.samples.items[i];
		assert_int_equal(s->value_count, type_count);
		assert_int_equal(s->label_count, thread ? 2 : 1);
		assert_true(string_is(&p, p.labels.items[s->label_first].key_s, "bytes"));
		assert_true(p.labels.items[s->label_first].num > 0);
		assert_true(!thread || string_is(&p, p.labels.items[s->label_first + 1].key_s, "thread"));
	}
	jp_pprof_release(&p);
	jp_strbuf_release(&proto);
	jp_strbuf_release(&plain);
	jprof_profile_free(profile);
}

TEST(test_layout)
{
	static const char *const types[] = { "alloc_objects", "alloc_space", "inuse_objects", "inuse_space" };
	check_layout(SAMPLES "/heaps/jemalloc-5.3.0.heap", NULL, types, 4);
	check_layout(SAMPLES "/heaps/jemalloc-5.3.0.heap", "*", types, 4);
	check_layout(SAMPLES "/cases/ruby31/cext.1.heap", NULL, types + 2, 2);
}

static void find_files(const char *dir)
{
	DIR *d = opendir(dir);
	assert_non_null(d);
	for (struct dirent *e; (e = readdir(d));) {
		size_t len = strlen(e->d_name);
		if (len > 5 && !strcmp(e->d_name + len - 5, ".heap") && file_count < max_files)
			assert_true(asprintf(&files[file_count++], "%s/%s", dir, e->d_name) > 0);
	}
	closedir(d);
}

FIXTURE(set_up)
{
	find_files(SAMPLES "/heaps");
	find_files(SAMPLES "/heaps/faults");
	find_files(SAMPLES "/cases/ruby31");
	find_files(SAMPLES "/cases/puma");
	assert_true(file_count > 40);
	return 0;
}

FIXTURE(tear_down)
{
	while (file_count)
		free(files[--file_count]);
	return 0;
}

TESTS_BETWEEN(set_up, tear_down)
