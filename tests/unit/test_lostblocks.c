/* Planted blocks, and pointers to some of them: from a file's data, from stacks that are in use and that were, into the
 * middle of a block, from what a thread's cache had. What is left is what nothing points to. */
#include "base/array.h"
#include "harness.h"
#include "outside/referrers.h"
#include "plantedheap.h"

enum { class_of_48 = 3, class_of_20k = 37, planted_blocks = 10 };

static uint64_t block(unsigned i)
{
	return PLANTED_HEAP + 48ULL * i;
}

/* Ten blocks of 48 bytes and one of 20 KB, and a stack of 1 MB. */
static struct planted *planted_blocks_new(void)
{
	static const char maps[] =
	    "7e0040000000-7e0044000000 rw-p 00000000 00:00 0 \n"
	    "7e1000000000-7e1004000000 rw-p 00000000 00:00 0 \n"
	    "7e2000000000-7e2000100000 rw-p 00000000 00:00 0                          [stack]\n"
	    "7e2800000000-7e2800100000 rw-p 00000000 00:00 0 \n"
	    "7e3000000000-7e3000001000 rw-p 00000000 fe:01 34                         /usr/lib/libshop.so\n"
	    "7f0000000000-7f0000001000 rw-p 00004000 fe:01 33                         /usr/lib/libjemalloc.so.2\n"
	    "7f0000001000-7f0000300000 rw-p 00000000 00:00 0 \n";
	static const char nothing[planted_blocks * 48];
	struct planted *p = planted_new(&jp_jelayouts[0]);
	jprof_maps_free(p->base.maps);
	assert_int_equal(jprof_maps_parse(maps, sizeof maps - 1, "maps", &p->base.maps, NULL), 0);
	planted_extent(p, PLANTED_HEAP, 0x3000, class_of_48, JP_JE_ACTIVE, planted_blocks);
	planted_extent(p, PLANTED_HEAP + 0x6000, 0x6000, class_of_20k, JP_JE_ACTIVE, 0);
	planted_put(p, PLANTED_HEAP, nothing, sizeof nothing);
	planted_word(p, PLANTED_HEAP + 0x6040, 0);
	return p;
}

#define THREAD 0x7e2800000000ULL /* its data */
#define SHOP 0x7e3000000000ULL

struct look {
	struct jp_jeheap heap;
	struct jp_jeextents extents;
	struct jp_lostblocks lost;
	struct jp_referrers referrers;
};

static void look_at_planted(struct planted *p, struct look *l)
{
	const struct jp_rubypages none = { 0 };
	const struct jp_rubynames names = { 0 };
	l->lost = (struct jp_lostblocks){ 0 };
	assert_int_equal(jp_jeheap_take(&p->base, &l->heap, &l->extents), 0);
	assert_int_equal(
	    jp_referrers_find(&p->base, &l->extents, &l->heap, &none, &names, NULL, &l->lost, &l->referrers), 0);
	assert_true(l->lost.known);
}

static void end_look(struct look *l)
{
	jp_lostblocks_release(&l->lost);
	jp_referrers_release(&l->referrers);
	jp_jeextents_release(&l->extents);
}

static void note_address(void *text, uint64_t address, uint64_t size)
{
	jp_strbuf_printf(text, "%llx %llu\n", (unsigned long long)address, (unsigned long long)size);
}

TEST(test_reached)
{
	struct planted *p = planted_blocks_new();
	struct look *l = calloc(1, sizeof *l);
	assert_non_null(l);
	uint64_t pointer = PLANTED_STACK + 0x80000;
	assert_int_equal(jp_array_push(p->base.stacks, p->base.stack_count, p->base.stack_cap), 0);
	p->base.stacks[p->base.stack_count++] = pointer;
	planted_word(p, SHOP + 8, block(0));               /* a global, */
	planted_word(p, block(0) + 16, block(1) + 17);     /* into the middle of another, */
	planted_word(p, block(1) + 40, block(2));          /* and on; */
	planted_word(p, pointer + 64, block(3));           /* a stack that is in use, */
	planted_word(p, PLANTED_STACK + 0x1000, block(4)); /* and what it was; */
	planted_word(p, block(5), block(6));               /* what nothing points to points to another, */
	planted_word(p, block(5) + 8, SHOP + 0x10);        /* and into a file */
	planted_word(p, PLANTED_DATA + 0x20, PLANTED_HEAP + 0x6100);
	look_at_planted(p, l);
	assert_int_equal(l->lost.count, 6);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(l->lost.items[i].address, block(4 + i));
	struct jp_strbuf text = { 0 }, addresses = { 0 };
	struct jp_jsonout j = { .out = &text };
	const struct jprof_heap_opts opts = { .size = sizeof opts, .lost = note_address, .context = &addresses };
	jp_jsonout_open(&j, NULL, '{', false);
	assert_int_equal(jp_lostblocks_write(&l->lost, &p->base, &l->extents, true, &opts, &j), 0);
	jp_jsonout_close(&j);
	assert_non_null(
	    strstr(text.text, "{\"size\":48,\"kind\":\"unknown\",\"name\":\"\",\"bytes\":240,\"blocks\":5}"));
	assert_non_null(
	    strstr(text.text, "{\"size\":48,\"kind\":\"file\",\"name\":\"libshop.so\",\"bytes\":48,\"blocks\":1}"));
	assert_non_null(strstr(addresses.text, "7e00400000c0 48\n7e00400000f0 48\n"));
	jp_strbuf_release(&text);
	jp_strbuf_release(&addresses);
	end_look(l);
	free(l);
	jp_memsource_close(&p->base);
}

/* The memory that a thread's cache has its pointers in holds those of the past. */
TEST(test_past_of_caches)
{
	struct planted *p = planted_blocks_new();
	struct look *l = calloc(1, sizeof *l);
	assert_non_null(l);
	const uint64_t object = block(9);
	planted_cache(p, THREAD + 0x1100, class_of_48, &object, 1);
	look_at_planted(p, l);
	assert_int_equal(l->heap.classes[class_of_48].cached, 1);
	end_look(l);
	/* The cache's pointers now lie in the large block, behind the one that counts. */
	uint64_t bins = jp_memsource_word(&p->base, THREAD + 0x1110 + 16), bin = bins + 24 * class_of_48,
		 head = PLANTED_HEAP + 0x6100;
	uint16_t empty = (uint16_t)(head + 8);
	planted_word(p, head, object);
	planted_word(p, head - 8, block(7));
	planted_word(p, bin, head);
	planted_put(p, bin + 20, &empty, sizeof empty);
	planted_word(p, SHOP, PLANTED_HEAP + 0x6040);
	look_at_planted(p, l);
	assert_int_equal(l->heap.classes[class_of_48].cached, 1);
	assert_int_equal(l->lost.count, 9); /* block 7 among them */
	end_look(l);
	free(l);
	jp_memsource_close(&p->base);
}

/* Only what two looks found, of one size and with one content. */
TEST(test_two_looks)
{
	struct planted *p = planted_blocks_new();
	struct look *first = calloc(1, sizeof *first), *second = calloc(1, sizeof *second);
	assert_non_null(first);
	assert_non_null(second);
	look_at_planted(p, first);
	assert_int_equal(first->lost.count, planted_blocks + 1);
	planted_word(p, SHOP, block(2));
	planted_word(p, block(3) + 40, 1);
	jp_memsource_forget(&p->base);
	look_at_planted(p, second);
	assert_int_equal(second->lost.count, planted_blocks);
	jp_lostblocks_keep(&second->lost, &first->lost);
	assert_int_equal(second->lost.count, planted_blocks - 1);
	for (size_t i = 0; i < second->lost.count; i++)
		assert_true(second->lost.items[i].address != block(2) && second->lost.items[i].address != block(3));
	end_look(first);
	end_look(second);
	free(first);
	free(second);
	jp_memsource_close(&p->base);
}

/* Where not all was read, nothing is said. */
TEST(test_not_all_read)
{
	struct planted *p = planted_blocks_new();
	struct look *l = calloc(1, sizeof *l);
	const struct jp_rubypages none = { 0 };
	const struct jp_rubynames names = { 0 };
	assert_non_null(l);
	assert_int_equal(jp_jeheap_take(&p->base, &l->heap, &l->extents), 0);
	p->base.left = 4096;
	assert_int_equal(
	    jp_referrers_find(&p->base, &l->extents, &l->heap, &none, &names, NULL, &l->lost, &l->referrers), 0);
	assert_false(l->lost.known);
	end_look(l);
	free(l);
	jp_memsource_close(&p->base);
}
