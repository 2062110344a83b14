
#include "testing.h"

#include "input/perfmap.h"

static struct jp_perfmap *parse(const char *text)
{
	struct jprof_error err;
	struct jp_perfmap *map = NULL;
	assert_int_equal(jp_perfmap_parse(text, strlen(text), "a.map", &map, &err), 0);
	return map;
}

/* The name of one address; NULL if it has none. */
static void check_name(const struct jp_perfmap *map, uint64_t address, const char *want)
{
	struct jp_arena arena = { 0 };
	struct jp_lookup lookup = { .vaddr = address };
	assert_int_equal(jp_perfmap_lookup(map, &arena, &lookup, 1), 0);
	if (want) {
		assert_int_equal(lookup.frame_count, 1);
		assert_int_equal(lookup.source, JPROF_SOURCE_JIT);
		assert_string_equal(lookup.frames[0].name, want);
	} else {
		assert_int_equal(lookup.frame_count, 0);
		assert_int_equal(lookup.source, JPROF_SOURCE_NONE);
	}
	jp_arena_release(&arena);
}

TEST(bounds)
{
	struct jp_perfmap *map = parse("1000 10 f\n1010 1 g h\n");
	check_name(map, 0xfff, NULL);
	check_name(map, 0x1000, "f");
	check_name(map, 0x100f, "f");
	check_name(map, 0x1010, "g h");
	check_name(map, 0x1011, NULL);
	jp_perfmap_free(map);
}

TEST(last_entry_counts)
{
	struct jp_perfmap *map = parse("1000 100 old\n1080 10 inside\n1000 8 start\n1070 20 across\n");
	check_name(map, 0x1007, "start");
	check_name(map, 0x1008, "old");
	check_name(map, 0x106f, "old");
	check_name(map, 0x1080, "across");
	check_name(map, 0x1090, "old");
	jp_perfmap_free(map);
}

/* Against the plain way, address by address. */
TEST(many_at_once)
{
	enum { entries = 40, addresses = 300 };
	char text[entries * 32] = "";
	struct jp_lookup lookups[addresses];
	int owner[addresses];
	struct jp_arena arena = { 0 };
	unsigned seed = 1;
	for (int i = 0; i < addresses; i++) {
		lookups[i] = (struct jp_lookup){ .vaddr = (uint64_t)i };
		owner[i] = -1;
	}
	for (int e = 0; e < entries; e++) {
		unsigned start = (seed = seed * 1103515245 + 12345) >> 16 & 255;
		unsigned size = (seed = seed * 1103515245 + 12345) >> 16 & 63;
		snprintf(text + strlen(text), 32, "%x %x f%d\n", start, size, e);
		for (unsigned a = start; a < start + size && a < addresses; a++)
			owner[a] = e;
	}
	struct jp_perfmap *map = parse(text);
	assert_int_equal(jp_perfmap_lookup(map, &arena, lookups, addresses), 0);
	for (int i = 0; i < addresses; i++) {
		char want[16];
		snprintf(want, sizeof want, "f%d", owner[i]);
		assert_int_equal(lookups[i].frame_count, owner[i] >= 0);
		if (owner[i] >= 0)
			assert_string_equal(lookups[i].frames[0].name, want);
	}
	jp_perfmap_free(map);
	jp_arena_release(&arena);
}

TEST(faults)
{
	unsigned line;
	struct jp_perfmap *map = parse("1000 10 f\n\n1000\n1000 10\n1000 10 \nx\n2000 0 empty\n3000 10 cut");
	assert_int_equal(jp_perfmap_faults(map, &line), 4);
	assert_int_equal(line, 3);
	check_name(map, 0x1000, "f");
	check_name(map, 0x2000, NULL);
	check_name(map, 0x3000, NULL);
	jp_perfmap_free(map);
}

TEST(refused)
{
	static const char *const texts[] = { "no map\n", "1000 10 f", "ffffffffffffffff 2 f\n",
		                             "1 10000000000000000 f\n" };
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		struct jprof_error err = { 0 };
		struct jp_perfmap *map;
		assert_int_equal(jp_perfmap_parse(texts[i], strlen(texts[i]), "a.map", &map, &err), JPROF_E_FORMAT);
		assert_string_equal(err.path, "a.map");
		assert_true(*err.text);
	}
}

TEST(empty)
{
	struct jp_perfmap *map = parse("");
	unsigned line;
	assert_int_equal(jp_perfmap_faults(map, &line), 0);
	assert_int_equal(line, 0);
	check_name(map, 0, NULL);
	jp_perfmap_free(map);
	jp_perfmap_free(NULL);
}
