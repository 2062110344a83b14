/* Expectations from proc(5). */
#include "harness.h"
#include "input/maps.h"

static const char sample[] =
    "7f0000000000-7f0000080000 r-xp 0001e000 fe:1f 332383                     /usr/lib/a b/libx.so.2\n"
    "00400000-00410000 r--s 00000000 08:01 1234 /opt/app/two\\012lines\n"
    "7f0000080000-7f0000081000 rwxp 00000000 00:00 0 \n"
    "7f0000081000-7f0000082000 ---p 00000000 00:00 0\n"
    "7f0000090000-7f0000091000 r-xp 00000000 00:05 77                         /memfd:jit (deleted)\r\n"
    "\n"
    "ffffffffff600000-ffffffffffffffff --xp ffffffffffffffff ffff:ffff 18446744073709551615 [vsyscall]\n";

static struct jprof_maps *maps_of(const char *text)
{
	struct jprof_maps *maps = NULL;
	struct jprof_error err = { 0 };
	if (jprof_maps_parse(text, strlen(text), "maps", &maps, &err))
		fail_msg("%s", err.text);
	return maps;
}

TEST(test_fields_in_order_of_address)
{
	static const struct jprof_map should[] = {
		{ 0x400000, 0x410000, 0, 1234, 8, 1, true, false, false, "/opt/app/two\nlines" },
		{ 0x7f0000000000, 0x7f0000080000, 0x1e000, 332383, 0xfe, 0x1f, true, false, true,
		  "/usr/lib/a b/libx.so.2" },
		{ 0x7f0000080000, 0x7f0000081000, 0, 0, 0, 0, true, true, true, "" },
		{ 0x7f0000081000, 0x7f0000082000, 0, 0, 0, 0, false, false, false, "" },
		{ 0x7f0000090000, 0x7f0000091000, 0, 77, 0, 5, true, false, true, "/memfd:jit (deleted)" },
		{ 0xffffffffff600000, UINT64_MAX, UINT64_MAX, UINT64_MAX, 0xffff, 0xffff, false, false, true,
		  "[vsyscall]" },
	};
	struct jprof_maps *maps = maps_of(sample);
	assert_int_equal(jprof_maps_count(maps), jp_count(should));
	for (size_t i = 0; i < jp_count(should); i++) {
		const struct jprof_map *is = jprof_maps_at(maps, i), *s = &should[i];
		assert_int_equal(is->start, s->start);
		assert_int_equal(is->limit, s->limit);
		assert_int_equal(is->offset, s->offset);
		assert_int_equal(is->inode, s->inode);
		assert_int_equal(is->dev_major, s->dev_major);
		assert_int_equal(is->dev_minor, s->dev_minor);
		assert_int_equal(is->readable, s->readable);
		assert_int_equal(is->writable, s->writable);
		assert_int_equal(is->executable, s->executable);
		assert_string_equal(is->path, s->path);
	}
	jprof_maps_free(maps);
}

TEST(test_finding)
{
	static const struct {
		uint64_t address;
		const char *path; /* NULL: in none */
	} cases[] = {
		{ 0, NULL },
		{ 0x3fffff, NULL },
		{ 0x400000, "/opt/app/two\nlines" },
		{ 0x40ffff, "/opt/app/two\nlines" },
		{ 0x410000, NULL },
		{ 0x7f000007ffff, "/usr/lib/a b/libx.so.2" },
		{ 0x7f0000080000, "" },
		{ 0x7f0000082000, NULL },
		{ 0xfffffffffffffffe, "[vsyscall]" },
		{ UINT64_MAX, NULL },
	};
	struct jprof_maps *maps = maps_of(sample);
	for (size_t i = 0; i < jp_count(cases); i++) {
		const struct jprof_map *map = jp_maps_find(maps, cases[i].address);
		assert_int_equal(!!map, !!cases[i].path);
		if (map)
			assert_string_equal(map->path, cases[i].path);
	}
	jprof_maps_free(maps);
}

TEST(test_kinds)
{
	static const struct {
		const char *path;
		enum jp_map_kind kind;
	} cases[] = {
		{ "", JP_MAP_ANON },
		{ "/usr/lib/libx.so", JP_MAP_FILE },
		{ "/a (deleted) b/c", JP_MAP_FILE },
		{ "/tmp/x.so (deleted)", JP_MAP_DELETED },
		{ "/memfd:jit (deleted)", JP_MAP_MEMFD },
		{ "[vdso]", JP_MAP_SPECIAL },
		{ "[anon:.bss]", JP_MAP_SPECIAL },
	};
	for (size_t i = 0; i < jp_count(cases); i++)
		assert_int_equal(jp_map_kind_of(cases[i].path), cases[i].kind);
}

TEST(test_refusals)
{
	static const struct {
		const char *text;
		unsigned line;
	} cases[] = {
		{ "", 0 },
		{ "\n\n", 0 },
		{ "garbage\n", 1 },
		{ "00400000-00410000 r--p 00000000 08:01 1 /a\nnonsense \033[1m\n", 2 },
		{ "00410000-00400000 r--p 00000000 08:01 1 /a\n", 1 },
		{ "00400000-00410000\n", 1 },
		{ "00400000-00410000 r--p\n", 1 },
		{ "00400000-00410000 r--p 0 08:01\n", 1 },
		{ "00400000-00410000 r--p 0 08:01 x\n", 1 },
		{ "00400000 00410000 r--p 0 08:01 1\n", 1 },
		{ "123456789012345678901-ffffffffffffffffffffff r--p 0 08:01 1\n", 1 },
		{ "00400000-00410000 r--p 0 08:01 18446744073709551616\n", 1 },
	};
	for (size_t i = 0; i < jp_count(cases); i++) {
		struct jprof_maps *maps = (void *)&maps;
		struct jprof_error err = { 0 };
		int rc = jprof_maps_parse(cases[i].text, strlen(cases[i].text), "my.maps", &maps, &err);
		assert_int_equal(rc, JPROF_E_FORMAT);
		assert_ptr_equal(maps, &maps); /* untouched */
		assert_int_equal(err.code, JPROF_E_FORMAT);
		assert_int_equal(err.line, cases[i].line);
		assert_string_equal(err.path, "my.maps");
		assert_is_message(err.text);
	}
}

TEST(test_our_own)
{
	static const char here[] = "x";
	struct jprof_maps *maps;
	assert_int_equal(jprof_maps_open("/proc/self/maps", &maps, NULL), 0);
	const struct jprof_map *code = jp_maps_find(maps, (uint64_t)(uintptr_t)&test_our_own);
	const struct jprof_map *data = jp_maps_find(maps, (uint64_t)(uintptr_t)here);
	assert_true(code && code->executable && !code->writable);
	assert_true(data && data->readable);
	assert_contains(code->path, "test_maps");
	assert_string_equal(code->path, data->path);
	assert_int_equal(code->inode, data->inode);
	jprof_maps_free(maps);
	jprof_maps_free(NULL);
}
