/* What reading costs, in bytes that our own objects ask for, by the size of the input. Generated dumps of a few MB; the
 * file itself is not in memory. */
#include <unistd.h>
#include <zlib.h>

#include "harness.h"
#include "shortmem.h"

enum { dump_size = 4 << 20, least_cost = 300 << 10 /* window, tables of no size */ };

/* A dump as it is wanted: how deep its stacks are, and how many addresses there are; 0: all different. */
struct shape {
	const char *name;
	unsigned depth, addresses;
	double most;  /* times its size that may be held while it becomes a profile */
	bool outside; /* all addresses lie outside the mappings */
};

static uint64_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
	return *state >> 33;
}

static size_t write_dump(const char *path, const struct shape *shape)
{
	FILE *file = fopen(path, "we");
	uint64_t random = 1, fresh = 0;
	long size = 0;
	assert_non_null(file);
	fprintf(file, "heap_v2/524288\n  t*: 1: 100 [0: 0]\n  t0: 1: 100 [0: 0]\n");
	while (size < dump_size) {
		fputs("@", file);
		for (unsigned i = 0; i < shape->depth; i++) {
			uint64_t at = shape->addresses ? next_random(&random) % shape->addresses : ++fresh;
			fprintf(file, " 0x7f%010llx", (unsigned long long)at * 16);
		}
		unsigned objects = 1 + (unsigned)(next_random(&random) % 50);
		fprintf(file, "\n  t*: %u: %u [0: 0]\n  t0: %u: %u [0: 0]\n", objects, objects * 64, objects,
		        objects * 64);
		size = ftell(file);
	}
	fprintf(file, "\nMAPPED_LIBRARIES:\n%s r-xp 00000000 08:01 42 /opt/app/server\n",
	        shape->outside ? "400000-500000" : "7f0000000000-7fff00000000");
	fclose(file);
	return (size_t)size;
}

static void make_path(char path[64])
{
	strcpy(path, "/tmp/jprof-memory-XXXXXX");
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
}

/* What a profile of each costs, from the file on, beside its size; with `rows` to the last row of its table. */
static void check_shapes(const struct shape *shapes, size_t count, bool rows)
{
	const struct jprof_symbolize_opts lean = { .size = sizeof lean, .no_lookup = true, .lean = true };
	char path[64];
	int wrong = 0;
	make_path(path);
	for (size_t i = 0; i < count; i++) {
		double size = (double)write_dump(path, &shapes[i]);
		struct jprof_profile *p;
		struct jprof_view *view = NULL;
		struct jprof_table *table = NULL;
		size_t before = shortmem_held(), named = 0;
		shortmem_peak(1);
		assert_int_equal(jprof_profile_open(path, NULL, &p, NULL), 0);
		if (rows) {
			assert_int_equal(jprof_profile_symbolize(p, &lean, NULL), 0);
			assert_int_equal(jprof_view_new(p, NULL, &view, NULL), 0);
			assert_int_equal(jprof_table_new(view, NULL, &table, NULL), 0);
			for (size_t r = 0; r < jprof_table_count(table); r++)
				named += *jprof_table_at(table, r)->name != '\0';
			assert_true(named > 1000 && named == jprof_view_info(view)->rows);
		}
		double cost = (double)(shortmem_peak(1) - before - least_cost) / size;
		if (cost > shapes[i].most)
			wrong +=
			    complain("%s: %.2f times its size, %.2f at most", shapes[i].name, cost, shapes[i].most);
		jprof_table_free(table);
		jprof_view_free(view);
		jprof_profile_free(p);
	}
	unlink(path);
	assert_int_equal(wrong, 0);
}

/* Measured: 0.35, 0.41, 0.78 and 3.12. Before profiles took the dump's stacks, and samples stayed counters, it was 0.8,
 * 1.1, 2.4 and 5.8 times the size. */
TEST(test_dumps)
{
	static const struct shape shapes[] = {
		{ "shared addresses, deep stacks", 80, 2000, 0.45, false },
		{ "shared addresses, stacks of 25", 25, 2000, 0.46, false },
		{ "shared addresses, stacks of 5", 5, 2000, 0.85, false },
		{ "all addresses different", 25, 0, 3.4, false },
	};
	check_shapes(shapes, jp_count(shapes), false);
}

/* All that the table costs, from the file to its last row: what text and info take. Measured: 0.35, 0.43, 0.87, 3.47.
 */
TEST(test_tables)
{
	static const struct shape shapes[] = {
		{ "stacks of 80", 80, 2000, 0.45, false },
		{ "stacks of 25", 25, 2000, 0.48, false },
		{ "stacks of 5", 5, 2000, 0.95, false },
		{ "all addresses different, in a missing file", 25, 0, 3.7, false },
		{ "all addresses different, in no file", 25, 0, 3.7, true },
	};
	check_shapes(shapes, jp_count(shapes), true);
}

/* A view needs no second table of stacks: what it has is for each stack and each row. */
TEST(test_folding)
{
	static const struct shape shape = { "", 80, 200, 0.12, false };
	char path[64];
	make_path(path);
	double size = (double)write_dump(path, &shape);
	struct jprof_profile *p;
	assert_int_equal(jprof_profile_open(path, NULL, &p, NULL), 0);
	const struct jprof_symbolize_opts none = { .size = sizeof none, .no_lookup = true };
	assert_int_equal(jprof_profile_symbolize(p, &none, NULL), 0);
	size_t before = shortmem_held();
	struct jprof_view *view;
	shortmem_peak(1);
	assert_int_equal(jprof_view_new(p, NULL, &view, NULL), 0);
	double cost = (double)(shortmem_peak(1) - before) / size;
	jprof_view_free(view);
	if (cost > shape.most)
		fail_msg("%.2f times the dump's size, %.2f at most", cost, shape.most);
	jprof_profile_free(p);
	unlink(path);
}

/* A bomb is known for one by its first bytes. */
TEST(test_zeros)
{
	enum { zeros = 64 << 20, piece = 1 << 20 };
	char path[64], *nothing = calloc(1, piece);
	struct jprof_profile *p;
	struct jprof_dump *dump;
	struct jprof_bundle *bundle;
	struct jprof_error err;
	make_path(path);
	gzFile file = gzopen(path, "wb1");
	assert_non_null(nothing);
	assert_non_null(file);
	for (size_t i = 0; i < zeros / piece; i++)
		assert_int_equal(gzwrite(file, nothing, piece), piece);
	gzclose(file);
	free(nothing);
	size_t before = shortmem_held();
	shortmem_peak(1);
	assert_int_equal(jprof_profile_open(path, NULL, &p, &err), JPROF_E_FORMAT);
	assert_contains(err.text, "is no heap dump");
	assert_int_equal(jprof_dump_open(path, &dump, &err), JPROF_E_FORMAT);
	assert_int_equal(jprof_bundle_open(path, &bundle, &err), JPROF_E_FORMAT);
	assert_true(shortmem_peak(1) - before < 1 << 20);
	unlink(path);
}
