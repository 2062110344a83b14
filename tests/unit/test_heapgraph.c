/* The graph of Ruby's objects (docs/internals/graph.md), of a writer of its own here: what is read of it, and that each
 * damaged one is refused or read to something that holds together. */
#include "harness.h"
#include "jprof.h"

enum { most_bytes = 4096, slot = 40, slots = 8 };
static const uint64_t first_slot = 0x7f0000001000;

/* Types as Ruby numbers them. */
enum { class_type = 2, string_type = 5, hash_type = 8, named = 0x40, long_one = 0x80 };

/* `names`: of the second format, in which each object refers to others by the first of these names. */
struct writer {
	unsigned char bytes[most_bytes];
	size_t len;
	bool names;
	unsigned name_count;
	const char *moves; /* a line of its head, NULL: none */
	bool renewed;      /* another String lies where the garbage was, and a Hash where the class String has one */
};

static void put_number_7(struct writer *w, uint64_t value)
{
	for (; value > 127; value >>= 7)
		w->bytes[w->len++] = (unsigned char)((value & 127) | 128);
	w->bytes[w->len++] = (unsigned char)value;
}

static void put_words(struct writer *w, int64_t words)
{
	put_number_7(w, words < 0 ? (uint64_t)(-2 * words - 1) : (uint64_t)(2 * words));
}

static void put_string(struct writer *w, const char *text)
{
	put_number_7(w, strlen(text));
	memcpy(w->bytes + w->len, text, strlen(text));
	w->len += strlen(text);
}

/* In the second format: the first name of an object stands behind the edge where it is new. */
static void put_edge(struct writer *w, int64_t words, const char *by)
{
	uint64_t distance = words < 0 ? (uint64_t)(-2 * words - 1) : (uint64_t)(2 * words);
	put_number_7(w, !w->names ? distance : 2 * distance + (by != NULL));
	if (!w->names || !by)
		return;
	put_number_7(w, ++w->name_count);
	put_string(w, by);
}

/* The i-th slot: of the class at another (its own: of none), and with what it refers to, up to -1. */
static void put_object(struct writer *w, int i, int type, int of_class, uint64_t size, uint64_t length,
                       const char *name, const int *to, const char *by)
{
	enum { words = slot / 8 };
	w->bytes[w->len++] = (unsigned char)(type | (name ? named : 0) | (length ? long_one : 0));
	put_words(w, (of_class - i) * words);
	put_number_7(w, size);
	if (length)
		put_number_7(w, length);
	if (name)
		put_string(w, name);
	for (; *to >= 0; to++)
		put_edge(w, (*to - i) * words, by);
	put_number_7(w, 0);
}

/* class Shop::Cache keeps a Hash of two, with two Strings of 1000 bytes; a third String is garbage. With names the Hash
 * is its constant PRICES, has a String under :today, and the other one is $tomorrow. */
static void put_shop(struct writer *w)
{
	static const int none[] = { -1 }, cache[] = { 3, -1 }, both[] = { 4, 5, -1 }, one[] = { 4, -1 };
	const int *hash = w->names ? one : both;
	w->len = (size_t)snprintf((char *)w->bytes, most_bytes, "jprof-graph %d\nruby 3.1.2\n%slater words\n\n",
	                          w->names ? 2 : 1, w->moves ? w->moves : "");
	w->bytes[w->len++] = 'P';
	put_number_7(w, first_slot / 8);
	put_number_7(w, slot);
	put_number_7(w, slots);
	put_object(w, 0, class_type, 0, 600, 0, "Class", none, NULL);
	put_object(w, 1, class_type, 0, 0, 0, "String", none, NULL);
	put_object(w, 2, class_type, 0, 500, 0, "Shop::Cache", cache, "PRICES");
	put_object(w, 3, hash_type, 3, 200, 2, NULL, hash, "today");
	put_object(w, 4, string_type, 1, 1000, 960, NULL, none, NULL);
	put_object(w, 5, string_type, 1, 1000, 960, NULL, none, NULL);
	if (w->renewed)
		put_object(w, 6, string_type, 1, 700, 660, NULL, none, NULL);
	else
		w->bytes[w->len++] = 0;
	put_object(w, 7, w->renewed ? hash_type : string_type, 1, 0, 5, NULL, none, NULL);
	for (int i = 0; i < 3; i++) {
		w->bytes[w->len++] = 'R';
		put_string(w, "vm");
		put_number_7(w, (first_slot + (unsigned)i * slot) / 8);
		if (w->names)
			put_string(w, "");
	}
	if (w->names) {
		w->bytes[w->len++] = 'R';
		put_string(w, "global_tbl");
		put_number_7(w, (first_slot + 5u * slot) / 8);
		put_string(w, "$tomorrow");
	}
	w->bytes[w->len++] = 'E';
	put_number_7(w, slots - !w->renewed);
	put_string(w, "end\n");
}

TEST(test_shop)
{
	struct writer w = { .len = 0 };
	struct jprof_rubyheap *heap = NULL;
	struct jprof_keepers *keepers = NULL;
	struct jprof_error err;
	put_shop(&w);
	assert_int_equal(jprof_rubyheap_parse(w.bytes, w.len, "shop", &heap, &err), 0);
	const struct jprof_rubyheap_info *info = jprof_rubyheap_info(heap);
	assert_int_equal(info->objects, slots - 1);
	assert_int_equal(info->bytes, 600 + 40 + 500 + 200 + 2000 + 40);
	assert_int_equal(info->unrooted_objects, 1);
	assert_int_equal(info->unrooted_bytes, 40);
	assert_int_equal(jprof_keepers_new(heap, NULL, &keepers, &err), 0);
	const struct jprof_keeper *first = jprof_keepers_at(keepers, 0);
	assert_int_equal(first->keeps, 2200);
	assert_string_equal(first->what, "a Hash of 2");
	assert_string_equal(first->holder, "Shop::Cache");
	assert_string_equal(first->path, "Shop::Cache > Hash > String (2 of them)");
	jprof_keepers_free(keepers);
	jprof_rubyheap_free(heap);
}

/* A String in a slot that was free, and a Hash in that of a String: both were born. What lies where an equal one lay is
 * not. */
static struct jprof_rubyheap *shop_of(const char *moves, bool renewed)
{
	struct writer w = { .moves = moves, .renewed = renewed };
	struct jprof_rubyheap *heap = NULL;
	struct jprof_error err;
	put_shop(&w);
	assert_int_equal(jprof_rubyheap_parse(w.bytes, w.len, "shop", &heap, &err), 0);
	return heap;
}

TEST(test_born)
{
	struct jprof_rubyheap *before = shop_of("compactions 7\n", false), *after = shop_of("compactions 7\n", true);
	struct jprof_born *born = NULL;
	struct jprof_error err;
	assert_int_equal(jprof_born_new(after, before, NULL, &born, &err), 0);
	assert_int_equal(jprof_born_info(born)->objects, 2);
	assert_int_equal(jprof_born_info(born)->bytes, 700 + 40);
	assert_int_equal(jprof_born_info(born)->samples, 0);
	jprof_born_free(born);
	assert_int_equal(jprof_born_new(after, before, before, &born, &err), 0);
	assert_int_equal(jprof_born_info(born)->objects, 0);
	jprof_born_free(born);
	assert_int_equal(jprof_born_new(after, before, after, &born, &err), 0);
	assert_int_equal(jprof_born_info(born)->objects, 2);
	jprof_born_free(born);
	jprof_rubyheap_free(before);
	jprof_rubyheap_free(after);
}

/* Where objects were moved, or nobody knows, addresses tell nothing. */
TEST(test_moved)
{
	static const struct {
		const char *before, *after;
	} rows[] = { { "compactions 0\n", "compactions 1\n" }, { NULL, "compactions 0\n" }, { NULL, NULL } };
	struct jprof_born *born = NULL;
	struct jprof_error err;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct jprof_rubyheap *before = shop_of(rows[i].before, false), *after = shop_of(rows[i].after, true);
		assert_int_equal(jprof_born_new(after, before, NULL, &born, &err), JPROF_E_ARGUMENT);
		assert_non_null(strstr(err.text, "GC.compact"));
		jprof_rubyheap_free(before);
		jprof_rubyheap_free(after);
	}
	assert_null(born);
}

TEST(test_names)
{
	struct writer w = { .names = true };
	struct jprof_rubyheap *heap = NULL;
	struct jprof_keepers *keepers = NULL;
	struct jprof_error err;
	put_shop(&w);
	assert_int_equal(jprof_rubyheap_parse(w.bytes, w.len, "shop", &heap, &err), 0);
	assert_int_equal(jprof_keepers_new(heap, NULL, &keepers, &err), 0);
	const struct jprof_keeper *first = jprof_keepers_at(keepers, 0), *second = jprof_keepers_at(keepers, 1);
	assert_int_equal(first->keeps, 1200);
	assert_string_equal(first->holder, "Shop::Cache::PRICES");
	assert_string_equal(first->path, "Shop::Cache::PRICES (constant) > Hash[:today] > String");
	assert_int_equal(second->keeps, 1000);
	assert_string_equal(second->holder, "$tomorrow");
	assert_string_equal(second->path, "$tomorrow (global) > String");
	jprof_keepers_free(keepers);
	jprof_rubyheap_free(heap);
}

/* Two Strings of a line of the application, which JSON made, one of them with a sample; and a sample of another class,
 * that lay at the other one's place before. R = 64 bytes, so that an object of 40 stands for 1 / (1 - exp(-40 / 64))
 * = 2.15.
 */
TEST(test_sites)
{
	static const char head[] =
	    "jprof-table 1\nprocess 1 2 -\ndump 1 1\nids 7f0000000000 0 40000 40400 240400\n"
	    "s 1 app/shop.rb\ns 2 add\ns 3 /usr/lib/ruby/3.1.0/json/common.rb\ns 4 parse\ns 5 String\n"
	    "s 6 Float\nn 1 0 1 7 0 - 2\nn 2 1 3 216 0 - 4\nn 3 2 0 0 0 - 4\nslots 64\n";
	char table[1024];
	struct writer w = { .len = 0 };
	struct jprof_rubyheap *heap = NULL;
	struct jprof_keepers *keepers = NULL;
	struct jprof_error err;
	put_shop(&w);
	int len = snprintf(table, sizeof table, "%so %llx 3 0 0 5 5 40 40\no %llx 3 0 0 4 6 40 40\nend 3\n", head,
	                   (unsigned long long)first_slot + 5 * slot, (unsigned long long)first_slot + 4 * slot);
	assert_int_equal(jprof_rubyheap_parse(w.bytes, w.len, "shop", &heap, &err), 0);
	assert_int_equal(jprof_rubyheap_sites(heap, table, (size_t)len, &err), 0);
	assert_true(jprof_rubyheap_info(heap)->has_lines);
	assert_int_equal(jprof_rubyheap_info(heap)->sampled, 1);
	struct jprof_keepers_opts opts = { .size = sizeof opts, .site = "app/shop.rb:7" };
	assert_int_equal(jprof_keepers_new(heap, &opts, &keepers, &err), 0);
	assert_int_equal(jprof_keepers_count(keepers), 1);
	const struct jprof_keeper *first = jprof_keepers_at(keepers, 0);
	assert_int_equal(first->keeps, 2151); /* of 1000 bytes */
	assert_int_equal(first->objects, 2);
	assert_int_equal(first->made_samples, 1);
	assert_string_equal(first->made_at, "app/shop.rb:7");
	assert_string_equal(first->method, "add");
	assert_string_equal(first->path, "Shop::Cache > Hash > String");
	jprof_keepers_free(keepers);
	const struct jprof_keepers_opts strings = { .size = sizeof strings, .class_name = "String" };
	assert_int_equal(jprof_keepers_new(heap, &strings, &keepers, &err), 0);
	assert_int_equal(jprof_keepers_at(keepers, 0)->keeps, 2000); /* both, sampled or not */
	jprof_keepers_free(keepers);
	opts.site = "app/shop.rb:8";
	assert_int_equal(jprof_keepers_new(heap, &opts, &keepers, &err), 0);
	assert_int_equal(jprof_keepers_count(keepers), 0);
	jprof_keepers_free(keepers);
	assert_int_equal(jprof_rubyheap_sites(heap, table, (size_t)len, &err), JPROF_E_ARGUMENT);
	assert_int_equal(jprof_rubyheap_sites(heap, table, 20, &err), JPROF_E_ARGUMENT);
	jprof_rubyheap_free(heap);
}

/* Below the directory in which the process ran a line is shown without it, and found by either path. */
TEST(test_sites_below_the_directory)
{
	static const char *const ways[] = { "/srv/shop/app/shop.rb:7", "app/shop.rb:7" };
	struct writer w = { .len = 0 };
	struct jprof_rubyheap *heap = NULL;
	struct jprof_keepers *keepers = NULL;
	struct jprof_error err;
	char table[512];
	put_shop(&w);
	int len = snprintf(table, sizeof table,
	                   "jprof-table 1\nprocess 1 2 -\ndirectory /srv/shop\ndump 1 1\n"
	                   "ids 7f0000000000 0 40000 40400 240400\ns 1 /srv/shop/app/shop.rb\ns 2 add\ns 5 String\n"
	                   "n 1 0 1 7 0 - 2\nslots 64\no %llx 1 0 0 5 5 40 40\nend 1\n",
	                   (unsigned long long)first_slot + 5 * slot);
	assert_int_equal(jprof_rubyheap_parse(w.bytes, w.len, "shop", &heap, &err), 0);
	assert_int_equal(jprof_rubyheap_sites(heap, table, (size_t)len, &err), 0);
	for (size_t i = 0; i < 2; i++) {
		const struct jprof_keepers_opts opts = { .size = sizeof opts, .site = ways[i] };
		assert_int_equal(jprof_keepers_new(heap, &opts, &keepers, &err), 0);
		assert_int_equal(jprof_keepers_count(keepers), 1);
		assert_string_equal(jprof_keepers_at(keepers, 0)->made_at, "app/shop.rb:7");
		jprof_keepers_free(keepers);
	}
	jprof_rubyheap_free(heap);
}

/* ---- blocks of objects ------------------------------------------------------------------------------------------- */

/* The Hash's first String has its slot from a gem, as a copy has it, and its text from the application. R = 64 bytes of
 * slots: one of 40 stands for 86 bytes. Of blocks R = 1024: one of 1024 stands for 1024 / (1 - 1 / e) = 1619 bytes, of
 * 1.58 objects. */
enum { stack_of_text = 2 * 2 + 1, later_epoch = 2 * (0x40400 + 3) + 1 };

static struct jprof_rubyheap *sampled_shop(char table[1024], size_t *len)
{
	struct writer w = { .len = 0 };
	struct jprof_rubyheap *heap = NULL;
	struct jprof_error err;
	put_shop(&w);
	*len = (size_t)snprintf(table, 1024,
	                        "jprof-table 1\nprocess 1 2 -\ndump 1 1\nids 7f0000000000 0 40000 40400 240400\n"
	                        "bounds 1 2\ns 1 app/shop.rb\ns 2 add\ns 3 /gems/escape-1/lib/escape.rb\ns 4 escape\n"
	                        "s 5 String\nn 1 0 3 9 0 - 4\nn 2 0 1 7 0 - 2\nslots 64\n"
	                        "o %llx 1 0 0 5 5 40 40\nend 2\n",
	                        (unsigned long long)first_slot + 4 * slot);
	assert_int_equal(jprof_rubyheap_parse(w.bytes, w.len, "shop", &heap, &err), 0);
	assert_int_equal(jprof_rubyheap_sites(heap, table, *len, &err), 0);
	return heap;
}

/* The answer's texts live as long as the heap. */
static struct jprof_keeper keeper_of(const struct jprof_rubyheap *heap, const char *site, size_t *count)
{
	struct jprof_keepers *keepers;
	const struct jprof_keepers_opts opts = { .size = sizeof opts, .site = site };
	struct jprof_keeper first = { .made_at = "" };
	assert_int_equal(jprof_keepers_new(heap, &opts, &keepers, NULL), 0);
	*count = jprof_keepers_count(keepers);
	if (*count)
		first = *jprof_keepers_at(keepers, 0);
	jprof_keepers_free(keepers);
	return first;
}

static int add_blocks(struct jprof_rubyheap *heap, const char *table, size_t table_len, const char *text)
{
	struct jprof_error err;
	size_t len = strlen(text);
	char *copy = malloc(len + !len); /* each step behind it is seen */
	assert_non_null(copy);
	memcpy(copy, text, len);
	int rc = jprof_rubyheap_buffers(heap, table, table_len, copy, len, &err);
	free(copy);
	return rc;
}

TEST(test_blocks)
{
	char table[1024], text[512];
	size_t len, count;
	struct jprof_rubyheap *heap = sampled_shop(table, &len);
	const unsigned long long copied = first_slot + 4 * slot, other = first_slot + 5 * slot;
	/* 86 bytes of 2200 have a line: that is not where the Hash's memory was allocated */
	assert_int_equal(keeper_of(heap, NULL, &count).keeps, 2200);
	assert_string_equal(keeper_of(heap, NULL, &count).made_at, "");
	snprintf(text, sizeof text, "jprof-buffers 1\nrate 1024\nb %llx 5 40 1024 %llx\nsomething later\nend 1\n",
	         copied, 0x7f0000000000ULL + stack_of_text);
	assert_int_equal(add_blocks(heap, table, len, text), 0);
	assert_int_equal(jprof_rubyheap_info(heap)->sampled, 2);
	struct jprof_keeper all = keeper_of(heap, NULL, &count);
	assert_string_equal(all.made_at, "app/shop.rb:7");
	assert_string_equal(all.method, "add");
	assert_int_equal(all.made_samples, 2);
	assert_int_equal(all.keeps, 2200);
	assert_true(all.made_share > 0.949 && all.made_share < 0.951); /* 1619 of 1705 */
	struct jprof_keeper of_text = keeper_of(heap, "app/shop.rb:7", &count);
	assert_int_equal(of_text.keeps, 1619);
	assert_int_equal(of_text.objects, 2);
	assert_int_equal(of_text.made_samples, 1);
	struct jprof_keeper of_slot = keeper_of(heap, "/gems/escape-1/lib/escape.rb:9", &count);
	assert_int_equal(of_slot.keeps, 86);
	assert_int_equal(of_slot.objects, 2);
	assert_int_equal(add_blocks(heap, table, len, text), JPROF_E_ARGUMENT); /* once */
	jprof_rubyheap_free(heap);

	/* a stack whose number may have been given to another one since the table was written */
	heap = sampled_shop(table, &len);
	snprintf(text, sizeof text, "jprof-buffers 1\nrate 1024\nb %llx 5 40 1024 %llx %llx\nend 1\n", other,
	         0x7f0000000000ULL + stack_of_text, 0x7f0000000000ULL + later_epoch);
	assert_int_equal(add_blocks(heap, table, len, text), 0);
	assert_int_equal(jprof_rubyheap_info(heap)->sampled, 2);
	(void)keeper_of(heap, "app/shop.rb:7", &count);
	assert_int_equal(count, 0);
	jprof_rubyheap_free(heap);
}

/* What cannot be the object's: of another type or size, of one that is no object or has none, of an address without. */
TEST(test_blocks_of_others)
{
	static const struct {
		int slot;
		const char *rest;
		bool taken;
	} rows[] = {
		{ 5, "5 40 1024", true },  { 5, "5 40 960", true },    { 5, "5 40 896", false },
		{ 5, "5 40 1280", false }, { 5, "7 40 1024", false },  { 5, "5 1000 64", false },
		{ 5, "5 8 1024", true },   { 5, "99 40 1024", false }, { 6, "5 40 1024", false },
		{ 7, "5 40 64", false },   { 3, "8 40 128", true },    { 3, "8 40 16", true },
		{ 3, "8 40 256", false },  { 2, "2 40 512", false },
	};
	char table[1024], text[512];
	size_t len;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct jprof_rubyheap *heap = sampled_shop(table, &len);
		snprintf(text, sizeof text, "jprof-buffers 1\nrate 1024\nb %llx %s\nend 1\n",
		         (unsigned long long)(first_slot + (unsigned)rows[i].slot * slot), rows[i].rest);
		assert_int_equal(add_blocks(heap, table, len, text), 0);
		if (jprof_rubyheap_info(heap)->sampled != 1u + rows[i].taken)
			fail_msg("slot %d: %s", rows[i].slot, rows[i].rest);
		jprof_rubyheap_free(heap);
	}
}

/* Each text that is cut, and each with another byte, is refused and changes nothing, or holds together. */
TEST(test_damaged_blocks)
{
	static const char others[] = "\0 9af-\n";
	static const char *const wrong[] = {
		"",
		"jprof-buffers 2\nrate 9\nend 0\n",
		"jprof-buffers 1\nend 0\nend 0\n",
		"jprof-buffers 1\nrate 0\nend 0\n",
		"jprof-buffers 1\nb 1 5 40 1024\nend 1\n",
		"jprof-buffers 1\nrate 999999999999999999\nend 0\n",
		"jprof-buffers 1\nrate 9\nb 1 5 40 0\nend 1\n",
		"jprof-buffers 1\nrate 9\nb 1 5 40 9 x\nend 1\n",
		"jprof-buffers 1\nrate 9\nb 1 5 40 99999999999999999999\nend 1\n",
		"jprof-buffers 1\nrate 9\nend 1\n",
	};
	char table[1024], text[512];
	size_t len, count;
	struct jprof_rubyheap *heap = sampled_shop(table, &len);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_not_equal(add_blocks(heap, table, len, wrong[i]), 0);
	size_t size = (size_t)snprintf(
	    text, sizeof text, "jprof-buffers 1\nrate 1024\nb %llx 5 40 1024 7f0000000005 7f0000080807\nend 1\n",
	    (unsigned long long)first_slot + 4 * slot);
	for (size_t i = 0; i < size - 1; i++) {
		char cut[512] = "";
		memcpy(cut, text, i);
		assert_int_not_equal(add_blocks(heap, table, len, cut), 0);
	}
	assert_int_equal(jprof_rubyheap_info(heap)->sampled, 1);
	jprof_rubyheap_free(heap);
	for (size_t i = 0; i < size; i++)
		for (size_t k = 0; k < sizeof others - 1; k++) {
			char damaged[512] = "";
			memcpy(damaged, text, size);
			damaged[i] = others[k];
			heap = sampled_shop(table, &len);
			struct jprof_error err;
			int rc = jprof_rubyheap_buffers(heap, table, len, damaged, size, &err);
			struct jprof_keeper all = keeper_of(heap, NULL, &count);
			assert_true(all.made_share >= 0 && all.made_share <= 1 && (!rc || all.made_samples == 1));
			(void)keeper_of(heap, "app/shop.rb:7", &count);
			jprof_rubyheap_free(heap);
		}
}

/* Read out of memory of its own, so that each step behind it is seen. */
static int read_damaged(const unsigned char *bytes, size_t len)
{
	struct jprof_rubyheap *heap = NULL;
	struct jprof_keepers *keepers = NULL;
	struct jprof_error err = { 0 };
	unsigned char *copy = malloc(len + !len);
	assert_non_null(copy);
	memcpy(copy, bytes, len);
	int rc = jprof_rubyheap_parse(copy, len, "damaged", &heap, &err);
	free(copy);
	assert_true(!rc == (heap != NULL));
	if (rc)
		assert_true(rc == JPROF_E_FORMAT || rc == JPROF_E_UNSUPPORTED);
	if (!rc) {
		const struct jprof_rubyheap_info *info = jprof_rubyheap_info(heap);
		assert_true(info->unrooted_bytes <= info->bytes);
		assert_int_equal(jprof_keepers_new(heap, NULL, &keepers, &err), 0);
		for (size_t i = 0; i < jprof_keepers_count(keepers); i++)
			assert_true(jprof_keepers_at(keepers, i)->keeps <= info->bytes);
	}
	jprof_keepers_free(keepers);
	jprof_rubyheap_free(heap);
	return rc;
}

/* What comes behind the number of objects is the writer's word that it is whole. */
TEST(test_cut)
{
	struct writer w = { .names = true };
	put_shop(&w);
	for (size_t len = 0; len < w.len; len++)
		assert_int_not_equal(read_damaged(w.bytes, len), 0);
}

TEST(test_bytes)
{
	struct writer w = { .names = true };
	put_shop(&w);
	for (size_t at = 0; at < w.len; at++) {
		unsigned char was = w.bytes[at];
		for (unsigned value = 0; value < 256; value++) {
			w.bytes[at] = (unsigned char)value;
			read_damaged(w.bytes, w.len);
		}
		w.bytes[at] = was;
	}
}
