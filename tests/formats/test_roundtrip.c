/* profile.proto is the model's own round trip: what is written of any sample is read back the same. */
#include <dirent.h>
#include <math.h>

#include "formats.h"
#include "model/profile.h"

enum { max_files = 64 };

static char *files[max_files];
static size_t file_count;

/* The file has whole numbers: so has what it is compared with. */
static void round_samples(struct jprof_profile *p)
{
	for (uint32_t i = 0; i < jp_sample_count(p); i++)
		for (int c = 0; c < JPROF_COUNTERS; c++)
			p->samples[i].value[c] = (double)llround(p->samples[i].value[c]);
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

static void name(struct jprof_profile *p, const char *path, enum jprof_fold fold)
{
	struct jprof_symbolize_opts opts = { .size = sizeof opts,
		                             .sysroot = strstr(path, "/heaps/") ? SAMPLES "/heaps/sysroot"
		                                                                : SAMPLES "/cases/sysroot" };
	assert_int_equal(jprof_profile_symbolize(p, &opts, NULL), 0);
	assert_int_equal(jprof_profile_fold(p, fold, NULL), 0);
}

static struct jprof_profile *again(const struct jprof_profile *p, bool normalize, const char *thread)
{
	struct jprof_profile_opts opts = { .size = sizeof opts, .thread = thread };
	struct jp_strbuf proto = rendered(p, "proto", normalize), twice = rendered(p, "proto", normalize);
	assert_int_equal(proto.len, twice.len);
	assert_memory_equal(proto.text, twice.text, proto.len);
	struct jprof_profile *read = must_parse(proto.text, proto.len, &opts);
	jp_strbuf_release(&proto);
	jp_strbuf_release(&twice);
	return read;
}

static void same_threads(const struct jprof_profile *a, const struct jprof_profile *b)
{
	assert_int_equal(jp_sample_count(a), jp_sample_count(b));
	for (uint32_t i = 0; i < jp_sample_count(a); i++)
		assert_string_equal(jp_string(a, a->samples[i].thread), jp_string(b, b->samples[i].thread));
}

static void same_objects(const struct jprof_profile *a, const struct jprof_profile *b)
{
	struct jprof_coverage *ca, *cb;
	assert_int_equal(jprof_coverage_new(a, JPROF_INUSE_SPACE, &ca, NULL), 0);
	assert_int_equal(jprof_coverage_new(b, JPROF_INUSE_SPACE, &cb, NULL), 0);
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
}

static void check_named(const char *path, enum jprof_fold fold, const char *thread)
{
	struct jprof_profile *p = open_sample(path, thread);
	if (!p)
		return;
	name(p, path, fold);
	round_samples(p);
	struct jprof_profile *read = again(p, false, thread), *image = again(p, true, thread);
	assert_same_rows(p, read, true, true, path);
	assert_same_rows(p, image, true, false, path);
	same_objects(p, read);
	assert_int_equal(p->mtime, read->mtime);
	assert_int_equal(p->rate, read->rate);
	if (thread && fold == JPROF_FOLD_NONE)
		same_threads(p, read);
	assert_int_equal(jprof_profile_merge(read, p, -1, NULL), 0);
	for (uint32_t i = 0; i < jp_sample_count(read) && fold == JPROF_FOLD_NONE; i++)
		for (int c = 0; c < JPROF_COUNTERS; c++)
			assert_true(read->samples[i].value[c] == 0);
	jprof_profile_free(p);
	jprof_profile_free(read);
	jprof_profile_free(image);
}

static void test_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < file_count; i++)
		check_named(files[i], i % 2 ? JPROF_FOLD_ALLOC : JPROF_FOLD_NONE, NULL);
}

static void test_threads(void **state)
{
	(void)state;
	check_named(SAMPLES "/heaps/jemalloc-5.3.0.heap", JPROF_FOLD_NONE, "*");
	check_named(SAMPLES "/heaps/jemalloc-5.3.1.heap", JPROF_FOLD_NONE, "*");
}

/* Without names the places must be the same: what is named afterwards, then, is too. */
static void test_unnamed(void **state)
{
	static const char *const paths[] = { SAMPLES "/heaps/jemalloc-5.3.0.heap", SAMPLES "/heaps/maps.heap",
		                             SAMPLES "/cases/ruby31/fiddle.1.heap" };
	(void)state;
	for (size_t i = 0; i < jp_count(paths); i++) {
		struct jprof_profile *p = open_sample(paths[i], NULL);
		round_samples(p);
		struct jprof_profile *read = again(p, false, NULL);
		read->allocator_hint = JP_NONE;
		name(p, paths[i], JPROF_FOLD_NONE);
		/* The allocator is not guessed in what jprof wrote; here it is still in. */
		for (uint32_t o = 0; o < jp_object_count(read); o++)
			if (!strcmp(jp_string(read, read->objects[o].path),
			            jp_string(p, p->objects[p->allocator_hint].path)))
				read->allocator_hint = o;
		name(read, paths[i], JPROF_FOLD_NONE);
		assert_same_rows(p, read, true, true, paths[i]);
		jprof_profile_free(p);
		jprof_profile_free(read);
	}
}

static void test_difference(void **state)
{
	(void)state;
	const char *path = SAMPLES "/cases/ruby31/hash.1.heap";
	struct jprof_profile *p = open_sample(path, NULL),
			     *base = open_sample(SAMPLES "/cases/ruby31/hash.0.heap", NULL);
	assert_int_equal(jprof_profile_merge(p, base, -1, NULL), 0);
	name(p, path, JPROF_FOLD_ALLOC);
	round_samples(p);
	struct jprof_profile *read = again(p, false, NULL);
	assert_same_rows(p, read, true, true, path);
	assert_true(jprof_profile_total(read, JPROF_INUSE_SPACE) < 40e6);
	jprof_profile_free(p);
	jprof_profile_free(base);
	jprof_profile_free(read);
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

static int set_up(void **state)
{
	(void)state;
	find_files(SAMPLES "/heaps");
	find_files(SAMPLES "/heaps/faults");
	find_files(SAMPLES "/cases/ruby31");
	find_files(SAMPLES "/cases/puma");
	assert_true(file_count > 40);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	while (file_count)
		free(files[--file_count]);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_named),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_unnamed),
		cmocka_unit_test(test_difference),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
