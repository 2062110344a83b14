#include "harness.h"
#include "input/dumpdata.h"
#include "model/profile.h"

#define MAPS                                                                                                           \
	"\nMAPPED_LIBRARIES:\n"                                                                                        \
	"00400000-00500000 r-xp 00001000 08:01 42   /opt/app/server\n"                                                 \
	"00600000-00700000 rwxp 00201000 08:01 42   /opt/app/server\n"                                                 \
	"00700000-00800000 rw-p 00301000 08:01 42   /opt/app/server\n"                                                 \
	"7f0000000000-7f0000100000 r-xp 00020000 08:01 43   /usr/lib/libjemalloc.so.2\n"                               \
	"7f0000200000-7f0000300000 r-xp 00000000 08:01 44   /tmp/x.so (deleted)\n"                                     \
	"7f0000400000-7f0000500000 rwxp 00000000 00:00 0\n"                                                            \
	"7f0000600000-7f0000700000 rwxp 00000000 00:00 0\n"                                                            \
	"7ffd00000000-7ffd00002000 r-xp 00000000 00:00 0   [vdso]\n"

/* The only sample's i-th location. */
static const struct jp_location *location(const struct jprof_profile *p, size_t i)
{
	size_t depth;
	const uint32_t *stack = jp_stack_get(p, p->samples.items[0].stack, &depth);
	assert_true(i < depth);
	return &p->locations[stack[i]];
}

TEST(test_locations_are_objects_and_offsets)
{
	static const struct {
		uint64_t address;
		const char *path;
		enum jp_map_kind kind;
		uint64_t offset;
	} should[] = {
		{ 0x7f0000012345, "/usr/lib/libjemalloc.so.2", JP_MAP_FILE, 0x32345 },
		{ 0x401000, "/opt/app/server", JP_MAP_FILE, 0x2000 },
		{ 0x600010, "/opt/app/server", JP_MAP_FILE, 0x201010 },
		{ 0x7f0000200000, "/tmp/x.so (deleted)", JP_MAP_DELETED, 0 },
		{ 0x7f00002fffff, "/tmp/x.so (deleted)", JP_MAP_DELETED, 0xfffff },
		{ 0x7ffd00000100, "[vdso]", JP_MAP_SPECIAL, 0x100 },
		{ 0x123, "", JP_MAP_ANON, 0x123 },
	};
	struct jprof_profile *p = profile_of("heap_v2/1\n@ 0x7f0000012345 0x401001 0x600011 0x7f0000200001 "
	                                     "0x7f0000300000 0x7ffd00000101 0x124\n  t*: 1: 100 [0: 0]\n" MAPS);
	for (size_t i = 0; i < jp_count(should); i++) {
		const struct jp_location *l = location(p, i);
		const struct jp_object *object = &p->objects[l->object];
		assert_int_equal(l->address, should[i].address);
		assert_int_equal(l->offset, should[i].offset);
		assert_int_equal(object->kind, should[i].kind);
		assert_string_equal(jp_string(p, object->path), should[i].path);
		assert_int_equal(object->unmapped, !*should[i].path);
	}
	assert_int_equal(location(p, 1)->object, location(p, 2)->object);
	assert_int_equal(location(p, 3)->object, location(p, 4)->object);
	assert_int_equal(p->objects[location(p, 1)->object].inode, 42);
	jprof_profile_free(p);
}

TEST(test_anonymous_regions_stay_apart)
{
	struct jprof_profile *p =
	    profile_of("heap_v2/1\n@ 0x7f0000400010 0x7f0000600011 0x7f0000400021\n  t*: 1: 100 [0: 0]\n" MAPS);
	assert_int_not_equal(location(p, 0)->object, location(p, 1)->object);
	assert_int_equal(location(p, 0)->object, location(p, 2)->object);
	assert_false(p->objects[location(p, 0)->object].unmapped);
	jprof_profile_free(p);
}

TEST(test_samples_are_scaled_and_equal_stacks_meet)
{
	struct jprof_profile *p = profile_of("heap_v2/524288\n"
	                                     "@ 0x1 0x2\n  t*: 1: 524288 [4: 8388608]\n"
	                                     "@ 0x1\n  t*: 4: 8388608 [0: 0]\n"
	                                     "@ 0x1 0x2\n  t*: 4: 8388608 [4: 8388608]\n" MAPS);
	assert_int_equal(jp_sample_count(p), 2);
	assert_near(jprof_profile_value(p, 0, JPROF_INUSE_SPACE), 829411.40369110543 + 8545117.2824064381);
	assert_near(jprof_profile_value(p, 1, JPROF_INUSE_SPACE), 8545117.2824064381);
	assert_near(jprof_profile_total(p, JPROF_INUSE_OBJECTS), 1.5819767068693265 + 2 * 4.0746294414550963);
	assert_near(jprof_profile_total(p, JPROF_ALLOC_SPACE), 2 * 8545117.2824064381);
	jprof_profile_free(p);
}

TEST(test_the_allocator_is_where_most_stacks_begin)
{
	struct jprof_profile *p = profile_of("heap_v2/1\n"
	                                     "@ 0x401000 0x402000\n  t*: 100: 99999 [0: 0]\n"
	                                     "@ 0x7f0000000010 0x401000 0x402000\n  t*: 1: 100 [0: 0]\n"
	                                     "@ 0x7f0000000010 0x401010 0x402000\n  t*: 1: 100 [0: 0]\n" MAPS);
	assert_string_equal(jp_string(p, p->objects[p->allocator_hint].path), "/usr/lib/libjemalloc.so.2");
	jprof_profile_free(p);
	p = profile_of("heap_v2/1\n@ 0x1 0x401000\n  t*: 1: 100 [0: 0]\n" MAPS);
	assert_int_equal(p->allocator_hint, JP_NONE); /* outside all mappings */
	jprof_profile_free(p);
}

TEST(test_an_empty_stack_counts)
{
	struct jprof_profile *p = profile_of("heap_v2/1\n@\n  t*: 1: 100 [0: 0]\n@ 0x1\n  t*: 1: 200 [0: 0]\n" MAPS);
	assert_near(jprof_profile_total(p, JPROF_INUSE_SPACE), 300);
	assert_int_equal(jprof_profile_symbolize(p, NULL, NULL), 0);
	struct jprof_view *view =
	    view_of(p, &(const struct asked){ .view.counter = JPROF_INUSE_SPACE, .view.fold = JPROF_FOLD_VM });
	assert_near(jprof_view_info(view)->total, 300);
	assert_near(jprof_view_info(view)->flat, 300);
	jprof_view_free(view);
	jprof_profile_free(p);
}

/* What stands for Ruby stacks and epochs is no place: stacks that differ in nothing else meet. Truth: the places. */
TEST(test_synthetic_addresses_are_taken_off)
{
	struct jprof_profile *p = profile_of("heap_v2/1\n"
	                                     "@ 0x401001 0x7000000b 0x70080803\n  t*: 1: 100 [0: 0]\n"
	                                     "@ 0x401001 0x7000000d 0x70080803\n  t*: 2: 300 [0: 0]\n"
	                                     "@ 0x70080803\n  t*: 1: 50 [0: 0]\n"
	                                     "\nMAPPED_LIBRARIES:\n"
	                                     "00400000-00500000 r-xp 00000000 08:01 9 /bin/a\n"
	                                     "70000000-70480000 ---s 00000000 00:01 7 /memfd:jprof-ids:2 (deleted)\n");
	assert_int_equal(jp_location_count(p), 2); /* and that of what has no place */
	assert_int_equal(jp_sample_count(p), 2);
	assert_near(jprof_profile_total(p, JPROF_INUSE_SPACE), 450);
	assert_int_equal(jprof_profile_info(p)->synthetic,
	                 4); /* nothing is taken off the innermost: there it is another */
	assert_int_equal(jprof_profile_info(p)->addresses, 1);
	jprof_profile_free(p);
}

TEST(test_maps_given_beside_the_dump)
{
	static const char text[] = "00400000-00500000 r-xp 00000000 08:01 7 /other\n";
	struct jprof_maps *maps;
	struct jprof_profile *p;
	struct jprof_dump *dump = dump_of("heap_v2/1\n@ 0x401000\n  t*: 1: 100 [0: 0]\n" MAPS);
	assert_int_equal(jprof_maps_parse(text, strlen(text), NULL, &maps, NULL), 0);
	struct jprof_profile_opts opts = { .size = sizeof opts, .maps = maps };
	assert_int_equal(jprof_profile_new(dump, &opts, &p, NULL), 0);
	jprof_maps_free(maps);
	jprof_dump_free(dump);
	assert_string_equal(jp_string(p, p->objects[location(p, 0)->object].path), "/other");
	assert_int_equal(location(p, 0)->offset, 0x1000);
	jprof_profile_free(p);
}

TEST(test_totals_equal_the_dump)
{
	static const char *const names[] = { "jemalloc-4.0.0", "jemalloc-5.3.0", "hand-4", "maps" };
	for (size_t i = 0; i < jp_count(names); i++) {
		char path[512];
		struct jprof_dump *dump;
		struct jprof_profile *p;
		snprintf(path, sizeof path, "%s/heaps/%s.heap", SAMPLES, names[i]);
		assert_int_equal(jprof_dump_open(path, &dump, NULL), 0);
		assert_int_equal(jprof_profile_new(dump, NULL, &p, NULL), 0);
		for (int c = 0; c < JPROF_COUNTERS; c++)
			assert_near(jprof_profile_total(p, (enum jprof_counter)c), jprof_dump_info(dump)->total[c]);
		jprof_dump_free(dump);
		jprof_profile_free(p);
	}
	jprof_profile_free(NULL);
}

/* What cannot be named still has a frame: FILE+0xOFFSET, or the address. */
TEST(test_names_without_files)
{
	static const char *const should[] = { "libjemalloc+0x32345", "x+0x0", "0x123" };
	const struct jprof_symbolize_opts opts = { .size = sizeof opts, .sysroot = "/proc/self/fdinfo" };
	struct jprof_profile *p =
	    profile_of("heap_v2/1\n@ 0x7f0000012345 0x7f0000200001 0x124\n  t*: 1: 100 [0: 0]\n" MAPS);
	assert_int_equal(jprof_profile_symbolize(p, &opts, NULL), 0);
	for (size_t i = 0; i < jp_count(should); i++) {
		const struct jp_location *l = location(p, i);
		assert_int_equal(l->source, JPROF_SOURCE_NONE);
		assert_int_equal(l->frame_count, 1);
		assert_string_equal(jp_string(p, p->functions[p->frames[l->frame_first].function].brief), should[i]);
	}
	jprof_profile_free(p);
}

TEST(test_basename)
{
	assert_string_equal(jp_basename("/a/b c"), "b c");
	assert_string_equal(jp_basename("a"), "a");
	assert_string_equal(jp_basename("a/"), "");
	assert_string_equal(jp_basename(""), "");
}
