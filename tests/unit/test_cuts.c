/* Real dumps cut at every byte. A cut dump is refused with a text, or read up to the cut with one
 * warning. Only where the cut leaves whole lines of maps can nobody tell. */
#include "harness.h"
#include "input/dumpdata.h"
#include "input/maps.h"

struct whole {
	const char *name;
	char *text;
	size_t len, maps; /* `maps`: where the first line of the maps starts */
	struct jprof_dump *dump;
};

/* What must hold of the dump that `cut` bytes of the whole are; NULL: refused, as *err says.
 * Returns what is wrong, or NULL. */
typedef const char *property_fn(const struct whole *whole, size_t cut, const struct jprof_dump *dump,
                                const struct jprof_error *err);

static const char *is_explained(const struct whole *whole, size_t cut, const struct jprof_dump *dump,
                                const struct jprof_error *err)
{
	char before = whole->text[cut - !!cut], after = whole->text[cut];
	bool unseen = cut > whole->maps && (before == '\n' || after == '\n' || after == '\r');
	if (!dump) {
		assert_is_message(err->text);
		return err->code == JPROF_E_FORMAT ? NULL : "another error";
	}
	if (!jprof_dump_warnings(dump))
		return unseen ? NULL : "no warning";
	assert_is_message(jprof_dump_warning(dump, 0)->text);
	return jprof_dump_warnings(dump) == 1 ? NULL : "several warnings";
}

static const char *is_at_most_the_whole(const struct whole *whole, size_t cut, const struct jprof_dump *dump,
                                        const struct jprof_error *err)
{
	(void)cut;
	(void)err;
	if (!dump)
		return NULL;
	const struct jprof_dump_info *part = jprof_dump_info(dump), *all = jprof_dump_info(whole->dump);
	for (int c = 0; c < JPROF_COUNTERS; c++)
		if (!(part->total[c] >= 0 && part->total[c] <= all->total[c]))
			return "a total exceeds the whole's";
	for (size_t i = 0; i < part->threads; i++)
		if (jprof_dump_thread(dump, i)->total[JPROF_INUSE_SPACE] >
		    jprof_dump_thread(whole->dump, i)->total[JPROF_INUSE_SPACE])
			return "a thread's total exceeds the whole's";
	if (part->rate != all->rate || part->threads != all->threads)
		return "another header";
	return !part->stacks || part->stacks > all->stacks ? "more or no stacks" : NULL;
}

static const char *has_only_addresses_of_the_whole(const struct whole *whole, size_t cut, const struct jprof_dump *dump,
                                                   const struct jprof_error *err)
{
	(void)cut;
	(void)err;
	if (!dump)
		return NULL;
	const struct jprof_dump_info *part = jprof_dump_info(dump), *all = jprof_dump_info(whole->dump);
	if (part->depth > all->depth || part->addresses > all->addresses)
		return "frames that the whole has not";
	for (size_t i = 0; i < part->addresses; i++)
		if (dump->addresses[i] != whole->dump->addresses[i])
			return "an address that the whole has not";
	return NULL;
}

static const char *has_only_maps_of_the_whole(const struct whole *whole, size_t cut, const struct jprof_dump *dump,
                                              const struct jprof_error *err)
{
	(void)cut;
	(void)err;
	const struct jprof_maps *maps = dump ? jprof_dump_maps(dump) : NULL;
	if (maps && !jprof_maps_count(maps))
		return "maps without a mapping";
	for (size_t i = 0; maps && i < jprof_maps_count(maps); i++) {
		const struct jprof_map *map = jprof_maps_at(maps, i);
		const struct jprof_map *same = jp_maps_find(jprof_dump_maps(whole->dump), map->start);
		if (!same || same->start != map->start || same->limit != map->limit || same->inode != map->inode ||
		    strcmp(same->path, map->path))
			return "a mapping that the whole has not";
	}
	return NULL;
}

static property_fn *const properties[] = { is_explained, is_at_most_the_whole, has_only_addresses_of_the_whole,
	                                   has_only_maps_of_the_whole };
enum { EXPLAINED, AT_MOST_THE_WHOLE, ADDRESSES, MAPS, PROPERTIES };

static size_t wrong[PROPERTIES]; /* cuts of which a property does not hold */

static void check_cut(const struct whole *whole, size_t cut, size_t first[PROPERTIES])
{
	/* A block of its own, so that a read past the cut is seen. */
	char *part = malloc(cut + !cut);
	memcpy(part, whole->text, cut);
	struct jprof_dump *dump = NULL;
	struct jprof_error err = { 0 };
	jprof_dump_parse(part, cut, "cut.heap", &dump, &err);
	free(part);
	for (size_t i = 0; i < PROPERTIES; i++) {
		const char *why = properties[i](whole, cut, dump, &err);
		if (why && !first[i]++)
			complain("%s cut at %zu: %s", whole->name, cut, why);
		wrong[i] += why != NULL;
	}
	jprof_dump_free(dump);
}

/* Tells the first cut of which a property does not hold. */
static void check_cuts(const char *name)
{
	char path[512];
	size_t first[PROPERTIES] = { 0 };
	struct whole whole = { .name = name };
	snprintf(path, sizeof path, "%s/heaps/%s", SAMPLES, name);
	whole.text = read_whole(path, &whole.len);
	whole.maps = (size_t)(strstr(whole.text, "\nMAPPED_LIBRARIES:") - whole.text);
	whole.maps += strcspn(whole.text + whole.maps + 1, "\n") + 2;
	whole.dump = dump_of(whole.text);
	assert_int_equal(jprof_dump_warnings(whole.dump), 0);
	for (size_t cut = 0; cut < whole.len; cut++)
		check_cut(&whole, cut, first);
	jprof_dump_free(whole.dump);
	free(whole.text);
}

FIXTURE(set_up)
{
	static const char *const names[] = { "jemalloc-4.0.0.heap",
		                             "jemalloc-4.5.0.heap",
		                             "jemalloc-5.3.0.heap",
		                             "jemalloc-5.3.1.heap",
		                             "loader.heap",
		                             "nopie.heap",
		                             "crlf.heap" };
	for (size_t i = 0; i < jp_count(names); i++)
		check_cuts(names[i]);
	return 0;
}

TEST(test_every_cut_is_reported)
{
	assert_int_equal(wrong[EXPLAINED], 0);
}

TEST(test_no_total_exceeds_the_whole)
{
	assert_int_equal(wrong[AT_MOST_THE_WHOLE], 0);
}

TEST(test_no_address_is_made_up)
{
	assert_int_equal(wrong[ADDRESSES], 0);
}

TEST(test_no_mapping_is_made_up)
{
	assert_int_equal(wrong[MAPS], 0);
}

TESTS_BETWEEN(set_up, NULL)
