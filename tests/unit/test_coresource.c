/* Cores: the planted memory written as the kernel writes one is read as that memory is; cut ones, ones of other
 * programs, and hostile ones. usage: test_coresource [ROUNDS], of hostile ones, 100 by default */
#include <elf.h>
#include <unistd.h>

#include "base/array.h"
#include "harness.h"
#include "outside/coresource.h"
#include "outside/holding.h"
#include "plantedheap.h"

enum { class_of_48 = 3, class_of_20k = 37, head_size = 8192, most_planted_maps = 16 };

static int hostile_rounds = 100;

static void put_number(struct jp_strbuf *to, uint64_t value)
{
	jp_strbuf_uint(to, value, 8);
}

static void put_note(struct jp_strbuf *to, unsigned type, const struct jp_strbuf *text)
{
	jp_strbuf_uint(to, 5, 4);
	jp_strbuf_uint(to, text->len, 4);
	jp_strbuf_uint(to, type, 4);
	jp_strbuf_add(to, "CORE\0\0\0", 8);
	jp_strbuf_add(to, text->text, text->len);
	jp_strbuf_add(to, "\0\0\0", -text->len & 3);
}

#define POINTER (PLANTED_STACK + 0x80000)

/* One thread, whose last register leads to a block; a process; two names of files. */
static void put_notes(struct jp_strbuf *to)
{
	enum { status_size = 336, information_size = 136, register_at = 112, pointer_at = register_at + 19 * 8 };
	static const char names[] = "/usr/lib/libshop.so\0/usr/lib/libjemalloc.so.2";
	char status[status_size] = { 0 }, information[information_size] = { 0 };
	const uint64_t pointer = POINTER, block = PLANTED_HEAP + 48 * 3ULL;
	const uint32_t pid = 4711;
	struct jp_strbuf text = { 0 };
	memcpy(status + pointer_at, &pointer, 8);
	memcpy(status + register_at, &block, 8);
	jp_strbuf_add(&text, status, sizeof status);
	put_note(to, NT_PRSTATUS, &text);
	jp_strbuf_cut(&text, 0);
	memcpy(information + 24, &pid, 4);
	memcpy(information + 40, "shop", 4);
	jp_strbuf_add(&text, information, sizeof information);
	put_note(to, NT_PRPSINFO, &text);
	jp_strbuf_cut(&text, 0);
	const uint64_t files[] = { 2, 4096, 0x7e3000000000, 0x7e3000001000, 0, PLANTED_DATA, PLANTED_DATA + 0x1000, 4 };
	for (size_t i = 0; i < jp_count(files); i++)
		put_number(&text, files[i]);
	jp_strbuf_add(&text, names, sizeof names);
	put_note(to, NT_FILE, &text);
	jp_strbuf_release(&text);
}

static void put_segment(struct jp_strbuf *to, unsigned type, unsigned flags, uint64_t offset, uint64_t at,
                        uint64_t size)
{
	jp_strbuf_uint(to, type, 4);
	jp_strbuf_uint(to, flags, 4);
	put_number(to, offset);
	put_number(to, at);
	put_number(to, 0);
	put_number(to, size);
	put_number(to, size);
	put_number(to, 4096);
}

/* What stands before the memory; *offsets become the places of the mappings in the file. */
static struct jp_strbuf head_of_core(const struct jprof_maps *maps, uint64_t offsets[most_planted_maps])
{
	static const unsigned char ident[16] = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT };
	struct jp_strbuf head = { 0 }, notes = { 0 };
	size_t count = jprof_maps_count(maps);
	uint64_t offset = head_size;
	assert_true(count <= most_planted_maps);
	put_notes(&notes);
	jp_strbuf_add(&head, ident, sizeof ident);
	jp_strbuf_uint(&head, ET_CORE, 2);
	jp_strbuf_uint(&head, EM_X86_64, 2);
	jp_strbuf_uint(&head, EV_CURRENT, 4);
	put_number(&head, 0);
	put_number(&head, sizeof(Elf64_Ehdr));
	put_number(&head, 0);
	jp_strbuf_uint(&head, 0, 4);
	jp_strbuf_uint(&head, sizeof(Elf64_Ehdr), 2);
	jp_strbuf_uint(&head, sizeof(Elf64_Phdr), 2);
	jp_strbuf_uint(&head, count + 1, 2);
	jp_strbuf_uint(&head, 0, 6);
	put_segment(&head, PT_NOTE, 0, sizeof(Elf64_Ehdr) + (count + 1) * sizeof(Elf64_Phdr), 0, notes.len);
	for (size_t i = 0; i < count; i++) {
		const struct jprof_map *map = jprof_maps_at(maps, i);
		offsets[i] = offset;
		put_segment(&head, PT_LOAD, PF_R | PF_W, offset, map->start, map->limit - map->start);
		offset += map->limit - map->start;
	}
	jp_strbuf_add(&head, notes.text, notes.len);
	assert_true(head.len <= head_size);
	jp_strbuf_release(&notes);
	return head;
}

/* Pages that are not there become holes. Returns the size of the file. */
static uint64_t write_core(int fd, const struct planted *p, const struct jp_strbuf *head, const uint64_t *offsets)
{
	const struct jprof_maps *maps = p->base.maps;
	size_t count = jprof_maps_count(maps);
	const struct jprof_map *last = jprof_maps_at(maps, count - 1);
	uint64_t size = offsets[count - 1] + last->limit - last->start;
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	assert_int_equal(pwrite(fd, head->text, head->len, 0), head->len);
	for (size_t i = 0; i < p->count; i++) {
		uint64_t address = p->pages[i].number * jp_memory_page;
		for (size_t k = 0; k < count; k++) {
			const struct jprof_map *map = jprof_maps_at(maps, k);
			if (address - map->start < map->limit - map->start)
				assert_int_equal(pwrite(fd, p->pages[i].bytes, jp_memory_page,
				                        (off_t)(offsets[k] + address - map->start)),
				                 jp_memory_page);
		}
	}
	return size;
}

/* Ten blocks: a file's data, a stack and a register point to one each, one of these to a fourth. */
static struct planted *planted_process(void)
{
	static const char maps[] =
	    "7e0040000000-7e0044000000 rw-p 00000000 00:00 0 \n"
	    "7e1000000000-7e1004000000 rw-p 00000000 00:00 0 \n"
	    "7e2000000000-7e2000100000 rw-p 00000000 00:00 0                          [stack]\n"
	    "7e3000000000-7e3000001000 rw-p 00000000 00:00 0                          /usr/lib/libshop.so\n"
	    "7f0000000000-7f0000001000 rw-p 00004000 00:00 0                          /usr/lib/libjemalloc.so.2\n"
	    "7f0000001000-7f0000300000 rw-p 00000000 00:00 0 \n";
	char content[480];
	struct planted *p = planted_new(&jp_jelayouts[0]);
	jprof_maps_free(p->base.maps);
	assert_int_equal(jprof_maps_parse(maps, sizeof maps - 1, "maps", &p->base.maps, NULL), 0);
	planted_extent(p, PLANTED_HEAP, 0x3000, class_of_48, JP_JE_ACTIVE, 10);
	planted_extent(p, PLANTED_HEAP + 0x6000, 0x6000, class_of_20k, JP_JE_ACTIVE, 0);
	memset(content, 1, sizeof content);
	planted_put(p, PLANTED_HEAP, content, sizeof content);
	planted_word(p, 0x7e3000000010, PLANTED_HEAP);
	planted_word(p, POINTER + 64, PLANTED_HEAP + 48);
	planted_word(p, PLANTED_STACK + 0x1000, PLANTED_HEAP + 96); /* of the past */
	planted_word(p, PLANTED_HEAP + 8, PLANTED_HEAP + 48 * 4);
	return p;
}

static int open_nothing(const void *context, struct jp_memsource *source, const struct jprof_map *map)
{
	(void)context;
	(void)source;
	(void)map;
	return -1;
}

static struct jp_strbuf heap_of(struct jp_memsource *m, uint64_t *lost)
{
	const struct jp_mapped_files none = { open_nothing, NULL };
	const struct jprof_heap_opts opts = { .size = sizeof opts, .referrers = true, .unreachable = true };
	struct jp_holding *h = calloc(1, sizeof *h);
	struct jp_strbuf text = { 0 };
	assert_non_null(h);
	assert_int_equal(jp_holding_read(m, &none, &opts, h), 0);
	if (h->jemalloc.version)
		assert_int_equal(jp_holding_write(h, m, &opts, &text), 0);
	*lost = h->lost.count;
	jp_holding_empty(h);
	free(h);
	return text;
}

static char core_path[] = "/tmp/test_coresource.XXXXXX";

TEST(test_equal)
{
	uint64_t offsets[most_planted_maps], lost, lost_in_core;
	struct planted *p = planted_process();
	struct jp_strbuf head = head_of_core(p->base.maps, offsets);
	int fd = *(int *)*state;
	struct jp_memsource *core;
	struct jp_core_facts facts;
	write_core(fd, p, &head, offsets);
	assert_int_equal(jp_array_push(p->base.stacks, p->base.stack_count, p->base.stack_cap), 0);
	p->base.stacks[p->base.stack_count++] = POINTER;
	struct jp_strbuf direct = heap_of(&p->base, &lost);
	assert_int_equal(lost, 11 - 3);
	assert_int_equal(jp_coresource_open(core_path, &core, &facts, NULL), 0);
	assert_int_equal(facts.pid, 4711);
	assert_string_equal(facts.name, "shop");
	assert_int_equal(facts.missing, 0);
	for (size_t i = 0; i < jprof_maps_count(p->base.maps); i++)
		assert_string_equal(jprof_maps_at(core->maps, i)->path, jprof_maps_at(p->base.maps, i)->path);
	assert_int_equal(core->register_count, 27);
	core->register_count = 0;
	struct jp_strbuf from_core = heap_of(core, &lost_in_core);
	assert_string_equal(direct.text, from_core.text);
	core->register_count = 27; /* the block that a register points to is reached, too */
	jp_strbuf_release(&from_core);
	from_core = heap_of(core, &lost_in_core);
	assert_int_equal(lost_in_core, lost - 1);
	jp_memsource_close(core);
	jp_strbuf_release(&direct);
	jp_strbuf_release(&from_core);
	jp_strbuf_release(&head);
	jp_memsource_close(&p->base);
}

/* What is missing is said, and of what is not whole no block is said to be unreachable. */
TEST(test_cut_core)
{
	uint64_t offsets[most_planted_maps];
	struct planted *p = planted_process();
	struct jp_strbuf head = head_of_core(p->base.maps, offsets);
	int fd = *(int *)*state;
	uint64_t size = write_core(fd, p, &head, offsets);
	for (int i = 0; i < 40; i++) {
		struct jp_memsource *core;
		struct jp_core_facts facts;
		uint64_t lost, left = i < 20 ? size - (uint64_t)i * 4096 * 10 : head.len * (uint64_t)(40 - i) / 20;
		assert_int_equal(ftruncate(fd, (off_t)left), 0);
		if (jp_coresource_open(core_path, &core, &facts, NULL))
			continue;
		assert_true(i >= 20 || facts.missing == size - left);
		struct jp_strbuf text = heap_of(core, &lost);
		jp_strbuf_release(&text);
		jp_memsource_close(core);
	}
	jp_strbuf_release(&head);
	jp_memsource_close(&p->base);
}

static struct jprof_profile *profile_of_core(struct jprof_heap_seen *seen)
{
	const struct jprof_heap_opts heap = { .size = sizeof heap, .unreachable = true };
	const struct jprof_profile_opts opts = { .size = sizeof opts, .dumpless = true };
	struct jp_strbuf bundle = { 0 };
	struct jprof_bundle_writer *writer;
	struct jprof_profile *profile;
	assert_int_equal(jprof_bundle_writer_new(NULL, append_to_strbuf, &bundle, &writer, NULL), 0);
	assert_int_equal(jprof_core_heap(core_path, &heap, writer, seen, NULL), 0);
	assert_int_equal(jprof_bundle_writer_finish(writer, NULL), 0);
	jprof_bundle_writer_free(writer);
	assert_int_equal(jprof_profile_parse(bundle.text, bundle.len, "core", &opts, &profile, NULL), 0);
	jp_strbuf_release(&bundle);
	return profile;
}

TEST(test_profile_of_core)
{
	uint64_t offsets[most_planted_maps];
	struct planted *p = planted_process();
	struct jp_strbuf head = head_of_core(p->base.maps, offsets);
	int fd = *(int *)*state;
	uint64_t size = write_core(fd, p, &head, offsets);
	for (unsigned cut = 0; cut < 2; cut++) {
		struct jprof_heap_seen seen;
		assert_int_equal(ftruncate(fd, (off_t)(size - cut * 40960ULL)), 0);
		struct jprof_profile *profile = profile_of_core(&seen);
		assert_true(seen.core);
		assert_string_equal(seen.jemalloc, "5.3");
		assert_int_equal(seen.missing, cut * 40960);
		double lost = jprof_profile_figure(profile, false, JPROF_FIGURE_UNREACHABLE);
		assert_true(cut ? isnan(lost) : lost == 6 * 48); /* and one of 20 KB of zeros */
		jprof_profile_free(profile);
	}
	jp_strbuf_release(&head);
	jp_memsource_close(&p->base);
}

/* Words of the headers, the notes and the tables become others, by a fixed seed. */
TEST(test_hostile_cores)
{
	static const uint64_t words[] = {
		0, 1, ~0ULL, 1ULL << 47, 4096, 0x7fffffffffffffff, 0xffffffff00000001, PLANTED_HEAP
	};
	uint64_t offsets[most_planted_maps], seed = 11;
	struct planted *p = planted_process();
	struct jp_strbuf head = head_of_core(p->base.maps, offsets);
	int fd = *(int *)*state, opened = 0;
	write_core(fd, p, &head, offsets);
	for (int round = 0; round < hostile_rounds; round++) {
		char *bytes = malloc(head.len);
		struct jp_memsource *core;
		struct jp_core_facts facts;
		uint64_t lost;
		assert_non_null(bytes);
		memcpy(bytes, head.text, head.len);
		for (int n = 0; n < 3; n++) {
			size_t at = next_draw(&seed) % (head.len / 4 - 1) * 4, size = next_draw(&seed) % 2 ? 4 : 8;
			at = next_draw(&seed) % 4 ? (at < 24 ? 24 : at) : at;
			memcpy(bytes + at, &words[next_draw(&seed) % jp_count(words)], size);
		}
		assert_int_equal(pwrite(fd, bytes, head.len, 0), head.len);
		free(bytes);
		if (jp_coresource_open(core_path, &core, &facts, NULL))
			continue;
		opened++;
		struct jp_strbuf text = heap_of(core, &lost);
		jp_strbuf_release(&text);
		jp_memsource_close(core);
	}
	assert_true(opened > hostile_rounds / 4);
	jp_strbuf_release(&head);
	jp_memsource_close(&p->base);
}

TEST(test_no_core)
{
	int fd = *(int *)*state;
	struct jp_memsource *core;
	struct jp_core_facts facts;
	struct jprof_error err;
	assert_int_equal(jp_coresource_open("/proc/self/exe", &core, &facts, &err), JPROF_E_FORMAT);
	assert_string_equal(err.text, "is no core");
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(jp_coresource_open(core_path, &core, &facts, &err), JPROF_E_FORMAT);
	assert_true(jp_coresource_open("/tmp", &core, &facts, &err) < 0);
}

static int open_file(void **state)
{
	static int fd;
	fd = mkstemp(core_path);
	*state = &fd;
	return fd < 0;
}

static int remove_file(void **state)
{
	close(*(int *)*state);
	return unlink(core_path);
}

int main(int argc, char **argv)
{
	hostile_rounds = argc > 1 ? atoi(argv[1]) : hostile_rounds;
	return run_listed(open_file, remove_file);
}
