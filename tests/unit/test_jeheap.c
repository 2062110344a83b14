/* jemalloc's tables read from outside: planted ones of each layout, and hostile ones; then real processes that stand
 * still, beside what mallctl says in them. usage: test_jeheap PARKED_HEAP [STATIC_PARKED_HEAP] */
#include <glob.h>
#include <unistd.h>

#include "base/search.h"
#include "harness.h"
#include "outside/jeprofile.h"
#include "parkedprocess.h"
#include "plantedheap.h"

static const char *parked, *parked_static;

/* ---- planted ---------------------------------------------------------------------------------------------- */

enum { class_48 = 3, class_20k = 37, class_none = jp_je_classes };

static struct planted *planted_heap(size_t layout)
{
	struct planted *p = planted_new(&jp_jelayouts[layout]);
	planted_extent(p, PLANTED_HEAP, 0x3000, class_48, JP_JE_ACTIVE, 100);
	planted_extent(p, PLANTED_HEAP + 0x3000, 0x3000, class_48, JP_JE_ACTIVE, 256);
	planted_extent(p, PLANTED_HEAP + 0x6000, 0x6000, class_20k, JP_JE_ACTIVE, 0);
	planted_extent(p, PLANTED_HEAP + 0x10000, 0x8000, class_none, JP_JE_DIRTY, 0);
	planted_extent(p, PLANTED_HEAP + 0x20000, 0x40000, class_none, JP_JE_RETAINED, 0);
	return p;
}

TEST(test_layouts)
{
	for (size_t i = 0; i < jp_jelayout_count; i++) {
		struct planted *p = planted_heap(i);
		struct jp_jeheap h;
		const uint64_t object = PLANTED_HEAP + 48 * 7ULL;
		planted_cache(p, PLANTED_STACK + 0x1100, class_48, &object, 1);
		assert_int_equal(jp_jeheap_read(&p->base, &h), 0);
		assert_non_null(h.version);
		assert_string_equal(h.version, i == 2 ? "5.2" : "5.3.0");
		assert_int_equal(h.classes[class_48].slabs, 2);
		assert_int_equal(h.classes[class_48].places, 512);
		assert_int_equal(h.classes[class_48].taken, 356);
		assert_int_equal(h.classes[class_48].cached, i != 2); /* of 5.2 the caches are not known */
		assert_int_equal(h.caches_known, i != 2);
		assert_int_equal(h.classes[class_20k].taken, 1);
		assert_int_equal(jp_jeheap_allocated(&h), 356 * 48 + 20480);
		assert_int_equal(h.bytes[JP_JE_ACTIVE], 0xc000);
		assert_int_equal(h.bytes[JP_JE_DIRTY], 0x8000);
		assert_int_equal(h.bytes[JP_JE_RETAINED], 0x40000);
		assert_int_equal(h.torn + h.mended + h.misfits, 0);
		assert_false(h.cut);
		jp_memsource_close(&p->base);
	}
}

/* A bitmap that does not have as many free places as the record says; an entry whose record is of another extent. */
TEST(test_torn)
{
	struct planted *p = planted_heap(0);
	struct jp_jeheap h;
	uint64_t record = planted_extent(p, PLANTED_HEAP + 0x100000, 0x3000, class_48, JP_JE_ACTIVE, 100);
	planted_word(p, record + 64, 1);
	record = planted_extent(p, PLANTED_HEAP + 0x200000, 0x6000, class_20k, JP_JE_ACTIVE, 0);
	planted_word(p, record + 8, PLANTED_HEAP + 0x300000);
	assert_int_equal(jp_jeheap_read(&p->base, &h), 0);
	assert_non_null(h.version);
	assert_int_equal(h.torn, 3); /* the second one has two entries */
	assert_int_equal(h.classes[class_48].taken, 356);
	assert_int_equal(h.classes[class_20k].taken, 1);
	jp_memsource_close(&p->base);
}

/* While the record of the first extent is read another one is made, 6 MB behind it. */
static size_t (*read_planted)(struct jp_memsource *, uint64_t, void *, size_t);

static size_t read_and_allocate(struct jp_memsource *source, uint64_t address, void *to, size_t size)
{
	struct planted *p = (struct planted *)source;
	if (address == p->records - jp_je_record_size && size == jp_je_record_size) {
		source->read = read_planted;
		planted_extent(p, PLANTED_HEAP + 0x600000, 0x9000, 40, JP_JE_ACTIVE, 0);
	}
	return read_planted(source, address, to, size);
}

TEST(test_allocated_meanwhile)
{
	for (size_t i = 0; i < jp_jelayout_count; i++) {
		struct planted *p = planted_new(&jp_jelayouts[i]);
		struct jp_jemap map;
		struct jp_jeextents extents;
		planted_extent(p, PLANTED_HEAP + 0x620000, 0x9000, 40, JP_JE_ACTIVE, 0); /* the table has that page */
		planted_extent(p, PLANTED_HEAP, 0x9000, 40, JP_JE_ACTIVE, 0);
		assert_int_equal(jp_jemap_find(&p->base, NULL, &map), 0);
		read_planted = p->base.read;
		p->base.read = read_and_allocate;
		assert_int_equal(jp_jeextents_walk(&p->base, &map, &extents), 0);
		assert_ptr_equal(p->base.read, read_planted);
		assert_int_equal(extents.count, 3);
		assert_int_equal(extents.torn, 0);
		jp_jeextents_release(&extents);
		jp_jemap_release(&map);
		jp_memsource_close(&p->base);
	}
}

/* Objects that are in no extent of the class, twice there, or inside of an object, are none. */
TEST(test_misfits)
{
	struct planted *p = planted_heap(0);
	struct jp_jeheap h;
	const uint64_t objects[] = { PLANTED_HEAP + 48,
		                     PLANTED_HEAP + 48,
		                     PLANTED_HEAP + 100,
		                     17,
		                     PLANTED_HEAP + 0x6040,
		                     PLANTED_HEAP + 0x10000,
		                     ~0ULL,
		                     PLANTED_HEAP + 48 * 200 };
	planted_cache(p, PLANTED_STACK + 0x1100, class_48, objects, jp_count(objects));
	assert_int_equal(jp_jeheap_read(&p->base, &h), 0);
	assert_int_equal(h.classes[class_48].cached, 1);
	assert_int_equal(h.misfits, 7);
	jp_memsource_close(&p->base);
}

/* Threads of one arena whose data lie side by side, as where jemalloc is built without thread-local storage: what links
 * them looks like descriptors, too. */
TEST(test_neighbours)
{
	struct planted *p = planted_heap(0);
	struct jp_jeheap h;
	const uint64_t first = PLANTED_STACK + 0x1100, second = first + 0x3000, links = 16;
	const uint64_t objects[] = { PLANTED_HEAP + 48, PLANTED_HEAP + 96 };
	planted_cache(p, first, class_48, &objects[0], 1);
	planted_cache(p, second, class_48, &objects[1], 1);
	for (uint64_t to = 0; to <= links; to += links) {
		planted_put(p, first + to, (uint64_t[]){ second + to, second + to }, links);
		planted_put(p, second + to, (uint64_t[]){ first + to, first + to }, links);
	}
	assert_int_equal(jp_jeheap_read(&p->base, &h), 0);
	assert_int_equal(h.caches, 2);
	assert_int_equal(h.classes[class_48].cached, 2);
	assert_int_equal(h.misfits, 0);
	jp_memsource_close(&p->base);
}

/* What is not in memory is not read, and nothing is without a limit. */
TEST(test_bounds)
{
	struct planted *p = planted_heap(0);
	struct jp_jeheap h;
	char bytes[64];
	assert_false(jp_memsource_read(&p->base, PLANTED_HEAP, bytes, sizeof bytes));
	assert_int_equal(p->reads, 0);
	assert_int_equal(p->base.absent, 1);
	assert_false(jp_memsource_read(&p->base, UINT64_MAX - 8, bytes, sizeof bytes));
	p->base.left = 100000;
	assert_int_equal(jp_jeheap_read(&p->base, &h), 0);
	assert_true(!h.version || h.cut);
	jp_memsource_close(&p->base);
}

/* Words of the tables become others, by a fixed seed: among them addresses of the tables. */
TEST(test_hostile)
{
	uint64_t seed = 1;
	static const uint64_t places[] = { PLANTED_HEAP,
		                           PLANTED_TABLE + 0x2000c0,
		                           PLANTED_TABLE + 0x1000000,
		                           PLANTED_STACK + 0x1110,
		                           PLANTED_ROOT,
		                           ~0ULL,
		                           1ULL << 47,
		                           0 };
	for (int round = 0; round < 120; round++) {
		struct planted *p = planted_heap((size_t)round % jp_jelayout_count);
		struct jp_jeheap h;
		const uint64_t object = PLANTED_HEAP + 48;
		planted_cache(p, PLANTED_STACK + 0x1100, class_48, &object, 1);
		for (int n = 0; n < 4; n++) {
			unsigned char *page = p->pages[next_draw(&seed) % p->count].bytes;
			uint64_t word = places[next_draw(&seed) % jp_count(places)] + next_draw(&seed) % 256;
			size_t at = next_draw(&seed) % (jp_memory_page / 8);
			for (size_t tries = 0; tries < 512 && !memcmp(page + at * 8, "\0\0\0\0\0\0\0\0", 8); tries++)
				at = (at + 1) % (jp_memory_page / 8);
			memcpy(page + at * 8, &word, sizeof word);
		}
		assert_int_equal(jp_jeheap_read(&p->base, &h), 0);
		assert_true(h.classes[class_48].taken <= h.classes[class_48].places);
		jp_memsource_close(&p->base);
	}
}

/* ---- real --------------------------------------------------------------------------------------------------- */

struct process_under_test {
	struct parked_process process;
	uint64_t said[jp_je_classes], allocated, active, cached;
};

static char *jemalloc_here(void)
{
	static char path[4096];
	glob_t found;
	const char *given = getenv("JPROF_JEMALLOC");
	if (given) {
		snprintf(path, sizeof path, "%s", given);
		return path;
	}
#ifndef __GLIBC__ /* the ones that are looked for are of Debian */
	return NULL;
#endif
	if (glob("/usr/lib/*/libjemalloc.so.2", 0, NULL, &found))
		return NULL;
	snprintf(path, sizeof path, "%s", found.gl_pathv[0]);
	globfree(&found);
	return path;
}

static void take_count(void *context, const char *line)
{
	struct process_under_test *p = context;
	unsigned class;
	unsigned long long value;
	if (sscanf(line, "class %u %llu", &class, &value) == 2 && class < jp_je_classes)
		p->said[class] = value;
	else if (sscanf(line, "allocated %llu", &value) == 1)
		p->allocated = value;
	else if (sscanf(line, "active %llu", &value) == 1)
		p->active = value;
	else if (sscanf(line, "cached %llu", &value) == 1)
		p->cached = value;
}

static struct process_under_test start_parked(const char *const *command, const char *preload, const char *conf)
{
	struct process_under_test p = { .allocated = 0 };
	p.process = parked_start(command, preload, conf, take_count, &p);
	return p;
}

static void read_process(const struct process_under_test *p, struct jp_jeheap *h)
{
	struct jp_memsource *source = parked_memory(&p->process);
	assert_int_equal(jp_jeheap_read(source, h), 0);
	jp_memsource_close(source);
}

static int compare_counts(const struct process_under_test *p, const struct jp_jeheap *h, const char *what)
{
	uint64_t cached = 0, sampled = jp_jeheap_sampled_counted(h);
	int bad = 0;
	for (unsigned i = 0; i < jp_je_classes; i++) {
		uint64_t taken = h->classes[i].taken + (i == jp_je_small ? sampled : 0);
		cached += h->classes[i].cached * jp_jeclass_size(i);
		if (taken != p->said[i])
			bad += complain("%s: %llu objects of class %u, and mallctl has %llu\n", what,
			                (unsigned long long)taken, i, (unsigned long long)p->said[i]);
	}
	if (jp_jeheap_allocated(h) != p->allocated || h->bytes[JP_JE_ACTIVE] != p->active || cached != p->cached)
		bad += complain("%s: allocated %llu of %llu, active %llu of %llu, in caches %llu of %llu\n", what,
		                (unsigned long long)jp_jeheap_allocated(h), (unsigned long long)p->allocated,
		                (unsigned long long)h->bytes[JP_JE_ACTIVE], (unsigned long long)p->active,
		                (unsigned long long)cached, (unsigned long long)p->cached);
	if (h->torn || h->misfits || h->cut)
		bad += complain("%s: torn %llu, misfits %llu\n", what, (unsigned long long)h->torn,
		                (unsigned long long)h->misfits);
	return bad;
}

static int try_parked(const char *program, const char *threads, const char *preload, const char *conf)
{
	struct process_under_test p = start_parked((const char *[]){ program, threads, NULL }, preload, conf);
	struct jp_jeheap h = { 0 };
	char before[256], after[256];
	parked_memory_lines(&p.process, before);
	read_process(&p, &h);
	parked_memory_lines(&p.process, after);
	assert_string_equal(before, after);
	int bad = h.version ? compare_counts(&p, &h, conf) : complain("%s: no jemalloc was found\n", conf);
	parked_end(&p.process);
	return bad;
}

/* Freed pages stay as they are, so that the process is the same before and after. */
TEST(test_parked)
{
	static const char *const confs[] = { "",
		                             "tcache:false,",
		                             "narenas:1,",
		                             "percpu_arena:percpu,",
		                             "background_thread:true,",
		                             "hpa:true,",
		                             "narenas:1,retain:false,",
		                             "prof:true,lg_prof_sample:12," };
	const char *jemalloc = jemalloc_here();
	int bad = 0;
	if (!jemalloc || access(parked, X_OK))
		skip();
	for (size_t i = 0; i < jp_count(confs); i++) {
		char conf[128];
		snprintf(conf, sizeof conf, "%sdirty_decay_ms:-1", confs[i]);
		bad += try_parked(parked, "8", jemalloc, conf);
	}
	assert_int_equal(bad, 0);
}

TEST(test_parked_static)
{
	if (!parked_static)
		skip();
	assert_int_equal(try_parked(parked_static, "4", NULL, "dirty_decay_ms:-1"), 0);
	assert_int_equal(try_parked(parked_static, "4", NULL, "narenas:1,dirty_decay_ms:-1"), 0);
}

/* A dump up to its mappings, without threads that have nothing. */
static void keep_stacks(char *text)
{
	char *to = text, *end = strstr(text, "\nMAPPED_LIBRARIES:");
	assert_non_null(end);
	*end = 0;
	for (char *line = text, *next; *line; line = next) {
		size_t len = strcspn(line, "\n") + 1;
		next = line[len - 1] ? line + len : line + len - 1;
		if (!strncmp(line, "  t", 3) && strstr(line, ": 0: 0 [0: 0]") && strstr(line, ": 0: 0 [0: 0]") < next)
			continue;
		memmove(to, line, (size_t)(next - line));
		to += next - line;
	}
	*to = 0;
}

static char *whole_file(const char *path)
{
	struct jp_strbuf text = { 0 };
	char piece[4096];
	FILE *file = fopen(path, "r");
	assert_non_null(file);
	for (size_t n; (n = fread(piece, 1, sizeof piece, file)) > 0;)
		jp_strbuf_add(&text, piece, n);
	fclose(file);
	assert_non_null(text.text);
	return text.text;
}

static char *profile_of_process(const struct process_under_test *p)
{
	struct jp_memsource *source = parked_memory(&p->process);
	struct jp_jeheap heap;
	struct jp_jeextents extents;
	struct jp_jeprofile profile;
	struct jp_strbuf text = { 0 };
	assert_int_equal(jp_jeheap_take(source, &heap, &extents), 0);
	assert_int_equal(jp_jeprofile_take(source, &heap, &extents, &profile), 0);
	if (profile.count)
		assert_int_equal(jp_jeprofile_write(&profile, source, NULL, &text), 0);
	jp_jeprofile_release(&profile);
	jp_jeextents_release(&extents);
	jp_memsource_close(source);
	assert_non_null(text.text);
	return text.text;
}

static void try_profile(const char *program, const char *preload, const char *conf)
{
	char path[] = "/tmp/jprof-parked-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	struct process_under_test p = start_parked((const char *[]){ program, "6", path, NULL }, preload, conf);
	char *told = whole_file(path), *found = profile_of_process(&p);
	parked_end(&p.process);
	unlink(path);
	keep_stacks(told);
	keep_stacks(found);
	assert_string_equal(found, told);
	free(told);
	free(found);
}

/* The profile in memory is, byte for byte, the one that jemalloc writes. */
TEST(test_parked_profile)
{
	static const char *const confs[] = { "prof:true,lg_prof_sample:14", "prof:true,lg_prof_sample:19",
		                             "prof:true,lg_prof_sample:9,tcache:false",
		                             "prof:true,lg_prof_sample:12,prof_sys_thread_name:true,hpa:true" };
	const char *jemalloc = jemalloc_here();
	if (!jemalloc || access(parked, X_OK))
		skip();
	for (size_t i = 0; i < jp_count(confs); i++)
		try_profile(parked, jemalloc, confs[i]);
	if (parked_static)
		try_profile(parked_static, NULL, confs[3]);
}

/* Times of allocation that a text of jemalloc's has of what was not freed, as JSON; how many. */
static size_t recent_times(const char *text, uint64_t *times, size_t most)
{
	static const char freed[] = "\"released\":", time[] = "\"alloc_time\":";
	size_t count = 0;
	for (const char *at = text; (at = strstr(at, freed)); at++) {
		const char *found = strstr(at, time);
		if (strncmp(at + sizeof freed - 1, "false", 5) || !found || count == most)
			continue;
		times[count++] = strtoull(found + sizeof time - 1, NULL, 10);
	}
	return count;
}

/* When each sample was allocated, beside jemalloc's own list of recent ones, which has all here. */
TEST(test_parked_times)
{
	enum { most = 10000 };
	static uint64_t told[most], found[most];
	char path[] = "/tmp/jprof-parked-XXXXXX", recent[] = "/tmp/jprof-recent-XXXXXX";
	const char *jemalloc = jemalloc_here();
	if (!jemalloc || access(parked, X_OK))
		skip();
	close(mkstemp(path));
	close(mkstemp(recent));
	struct process_under_test p = start_parked((const char *[]){ parked, "6", path, recent, NULL }, jemalloc,
	                                           "prof:true,lg_prof_sample:12,prof_recent_alloc_max:-1");
	char *text = whole_file(recent);
	struct jp_memsource *source = parked_memory(&p.process);
	struct jp_jeheap heap;
	struct jp_jeextents extents;
	struct jp_jeprofile profile;
	assert_int_equal(jp_jeheap_take(source, &heap, &extents), 0);
	assert_int_equal(jp_jeprofile_take(source, &heap, &extents, &profile), 0);
	parked_end(&p.process);
	size_t count = recent_times(text, told, most);
	assert_in_range(count, 500, most - 1);
	assert_int_equal(profile.sample_count, count);
	for (size_t i = 0; i < count; i++)
		found[i] = profile.samples[i].time;
	qsort(told, count, sizeof *told, jp_by_first);
	qsort(found, count, sizeof *found, jp_by_first);
	assert_memory_equal(found, told, count * sizeof *told);
	jp_jeprofile_release(&profile);
	jp_jeextents_release(&extents);
	jp_memsource_close(source);
	free(text);
	unlink(path);
	unlink(recent);
}

/* Programs that wait for the end of their input, without jemalloc. */
TEST(test_others)
{
	static const char *const commands[][4] = {
		{ "/bin/sh", "-c", "echo end; read x" },
		{ "/usr/bin/python3", "-c", "import json, sys; print('end', flush=True); sys.stdin.read()" },
		{ "/usr/bin/perl", "-e", "$| = 1; @a = map { \"x$_\" } 1..100000; print \"end\\n\"; <STDIN>" },
		{ "/usr/bin/node", "-e", "console.log('end'); process.stdin.resume()" },
		{ "/usr/bin/ruby", "-e", "a = (1..100000).map { |i| i.to_s }; puts 'end'; $stdout.flush; $stdin.read" },
	};
	for (size_t i = 0; i < jp_count(commands); i++) {
		if (access(commands[i][0], X_OK))
			continue;
		struct process_under_test p = start_parked(commands[i], NULL, "");
		struct jp_jeheap h = { 0 };
		read_process(&p, &h);
		assert_null(h.version);
		parked_end(&p.process);
	}
}

int main(int argc, char **argv)
{
	parked = argc > 1 ? argv[1] : "";
	parked_static = argc > 2 ? argv[2] : NULL;
	return run_listed(NULL, NULL);
}
