/* The blocks of glibc's malloc and of musl's, read from outside in real processes that stand still, beside what
 * malloc_usable_size says in them. usage: test_othermalloc PARKED_BLOCKS [PARKED_BLOCKS_OF_MUSL] */
#include <unistd.h>

#include "harness.h"
#include "outside/othermalloc.h"
#include "parkedprocess.h"

enum { most_blocks = 20000, small = 2000 };

static const char *parked, *parked_musl;

struct told {
	struct {
		uint64_t at, size;
	} blocks[most_blocks];
	uint64_t freed[most_blocks];
	size_t block_count, freed_count;
	uint64_t freed_bytes; /* of small ones: of larger ones the slots may be gone, too */
};

static void take_line(void *context, const char *line)
{
	struct told *t = context;
	void *at;
	size_t size;
	if (sscanf(line, "block %p %zu", &at, &size) == 2 && t->block_count < most_blocks) {
		t->blocks[t->block_count].at = (uint64_t)(uintptr_t)at;
		t->blocks[t->block_count++].size = size;
	} else if (sscanf(line, "freed %p %zu", &at, &size) == 2 && t->freed_count < most_blocks) {
		t->freed[t->freed_count++] = (uint64_t)(uintptr_t)at;
		t->freed_bytes += size < small ? size : 0;
	}
}

/* Not what lies inside, each once, and of the freed ones none; a thread's cache in glibc has these still. */
static int compare_blocks(struct jp_othermalloc *o, struct jp_memsource *source, const struct told *t)
{
	int bad = 0;
	for (size_t i = 0; i < t->freed_count && *o->name == 'm'; i++) {
		uint64_t size;
		if (jp_othermalloc_take(o, source, t->freed[i], &size))
			bad += complain("%s: %#jx was freed\n", o->name, (uintmax_t)t->freed[i]);
	}
	for (size_t i = 0; i < t->block_count; i++) {
		uint64_t at = t->blocks[i].at, size = 0, again;
		if (t->blocks[i].size > 16 && jp_othermalloc_take(o, source, at + 16, &again))
			bad += complain("%s: %#jx is no block\n", o->name, (uintmax_t)at + 16);
		if (!jp_othermalloc_take(o, source, at, &size) || size != t->blocks[i].size)
			bad += complain("%s: %#jx has %ju bytes, and malloc_usable_size says %ju\n", o->name,
			                (uintmax_t)at, (uintmax_t)size, (uintmax_t)t->blocks[i].size);
		if (jp_othermalloc_take(o, source, at, &again))
			bad += complain("%s: %#jx was taken twice\n", o->name, (uintmax_t)at);
	}
	return bad;
}

static int try_blocks(const char *program, const char *name)
{
	static struct told t;
	t = (struct told){ .freed_bytes = 0 };
	struct parked_process p = parked_start((const char *[]){ program, NULL }, NULL, NULL, take_line, &t);
	struct jp_memsource *source = parked_memory(&p);
	struct jp_othermalloc o;
	char before[256], after[256];
	parked_memory_lines(&p, before);
	assert_int_equal(jp_othermalloc_find(source, &o), 0);
	assert_non_null(o.name);
	assert_string_equal(o.name, name);
	assert_true(t.block_count > 8000 && t.freed_count > 2000);
	assert_true(jp_othermalloc_has_blocks(&o));
	int bad = compare_blocks(&o, source, &t);
	if (*name == 'm' && (o.unused < t.freed_bytes || o.unused > t.freed_bytes / 4 * 5))
		bad += complain("musl: %ju bytes in free slots, and %ju were freed\n", (uintmax_t)o.unused,
		                (uintmax_t)t.freed_bytes);
	parked_memory_lines(&p, after);
	assert_string_equal(before, after);
	jp_othermalloc_release(&o);
	jp_memsource_close(source);
	parked_end(&p);
	return bad;
}

TEST(test_blocks)
{
#ifdef __GLIBC__
	assert_int_equal(try_blocks(parked, "glibc"), 0);
#else
	assert_int_equal(try_blocks(parked, "musl"), 0);
#endif
}

TEST(test_blocks_of_musl)
{
	if (!parked_musl)
		skip();
	assert_int_equal(try_blocks(parked_musl, "musl"), 0);
}

/* By the file's name alone: their memory is not read. What stands before the C library has the program's memory. */
TEST(test_names)
{
	static const struct {
		const char *file, *name;
	} cases[] = { { "libtcmalloc_minimal.so.4.5.9", "tcmalloc" },
		      { "libmimalloc.so.2.0", "mimalloc" },
		      { "libmy-tcmalloc-notes.so", "glibc" },
		      { "libm.so.6", "glibc" } };
	for (size_t i = 0; i < jp_count(cases); i++) {
		char text[256];
		struct jp_memsource source = { 0 };
		struct jp_othermalloc o;
		snprintf(
		    text, sizeof text,
		    "1000-2000 r-xp 00000000 00:00 1 /lib/libc.so.6\n3000-4000 r-xp 00000000 00:00 2 /usr/lib/%s\n",
		    cases[i].file);
		assert_int_equal(jprof_maps_parse(text, strlen(text), "maps", &source.maps, NULL), 0);
		assert_int_equal(jp_othermalloc_find(&source, &o), 0);
		assert_string_equal(o.name, cases[i].name);
		jp_othermalloc_release(&o);
		jprof_maps_free(source.maps);
	}
}

int main(int argc, char **argv)
{
	parked = argc > 1 ? argv[1] : "";
	parked_musl = argc > 2 ? argv[2] : NULL;
	return run_listed(NULL, NULL);
}
