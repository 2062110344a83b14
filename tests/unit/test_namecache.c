/* Names that are kept are those that would be found: questions in any order, for parts of each other, with and without
 * callers; files that change; and what somebody may have put into the cache.
 * usage: test_namecache SUBJECT STRIPPED, two small libraries */
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/index.h"
#include "harness.h"
#include "input/namecache.h"

enum { pool_size = 300 };

static const char *subject, *stripped;
static char dir[] = "/tmp/jprof-namecache-XXXXXX";

/* ---- questions ------------------------------------------------------------------------------------ */

static uint64_t drawn = 88172645463325252u;

static uint32_t draw(uint32_t below)
{
	drawn ^= drawn << 13;
	drawn ^= drawn >> 7;
	drawn ^= drawn << 17;
	return (uint32_t)(drawn >> 20) % below;
}

/* Waits until the file changed long enough ago to be one whose names are kept. */
static void settle(int fd)
{
	struct stat st;
	assert_true(fd >= 0 && !fstat(fd, &st));
	while (time(NULL) - st.st_ctime < 4)
		usleep(100000);
}

static int open_settled(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	settle(fd);
	return fd;
}

static bool is_wrapper_name(const void *wrappers, const char *name)
{
	(void)wrappers;
	return strstr(name, "alloc");
}

static struct jp_name_request question(int fd, const char *path, const uint64_t *offsets, size_t count)
{
	return (struct jp_name_request){ .object = { fd, path },
		                         .debug = { -1, NULL },
		                         .shared = { -1, NULL },
		                         .offsets = offsets,
		                         .count = count,
		                         .is_wrapper = is_wrapper_name };
}

/* ---- answers -------------------------------------------------------------------------------------- */

static bool same_words(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool same_function(const struct jp_reply_function *a, const struct jp_reply_function *b)
{
	return same_words(a->name, b->name) && same_words(a->brief, b->brief) && same_words(a->linkage, b->linkage) &&
	       same_words(a->file, b->file);
}

static bool same_answer(const struct jp_namereply *a, const struct jp_namereply *b, uint32_t i)
{
	const struct jp_reply_place *x = &a->places[i], *y = &b->places[i];
	bool same = x->vaddr == y->vaddr && x->fde_start == y->fde_start && x->fde_end == y->fde_end &&
	            x->source == y->source && x->reason == y->reason && x->wrapper == y->wrapper &&
	            x->frame_count == y->frame_count;
	for (uint32_t f = 0; same && f < x->frame_count; f++) {
		const struct jp_reply_frame *m = &a->frames[x->frame_first + f], *n = &b->frames[y->frame_first + f];
		same = m->line == n->line && m->inlined == n->inlined &&
		       same_function(&a->functions[m->function], &b->functions[n->function]);
	}
	return same;
}

static int differences(const struct jp_namereply *a, const struct jp_namereply *b)
{
	int wrong = a->place_count != b->place_count || a->dwarf != b->dwarf || a->program != b->program ||
	            a->exports_malloc != b->exports_malloc || !same_words(a->mallctl, b->mallctl) ||
	            !same_words(a->remarks, b->remarks);
	for (uint32_t i = 0; !wrong && i < a->place_count; i++)
		wrong += !same_answer(a, b, i);
	return wrong;
}

/* How often the answers differ with and without the cache: 0 or 1. */
static int ask_both(struct jp_namecache *cache, const struct jp_name_request *request)
{
	struct jp_namereply kept, found;
	assert_int_equal(jp_namecache_find(cache, "ab12", NULL, request, &kept, NULL), 0);
	assert_int_equal(jp_namecache_find(NULL, "ab12", NULL, request, &found, NULL), 0);
	int wrong = differences(&kept, &found);
	jp_namereply_release(&kept);
	jp_namereply_release(&found);
	return wrong;
}

static struct jp_namecache *open_kept(void)
{
	struct jp_namecache *cache = NULL;
	assert_int_equal(jp_namecache_open(dir, 0, &cache), 0);
	assert_non_null(cache);
	return cache;
}

static struct jprof_cache_sum kept_sum(void)
{
	struct jprof_cache_sum sum;
	assert_int_equal(jprof_cache_measure(dir, &sum, NULL), 0);
	return sum;
}

static void empty_kept(void)
{
	struct jprof_cache_sum sum;
	assert_int_equal(jprof_cache_empty(dir, &sum, NULL), 0);
	assert_int_equal(kept_sum().files, 0);
}

/* ---- the same answers ------------------------------------------------------------------------------- */

static int by_offset(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

/* Some of the pool, ascending, and now and then one twice. */
static size_t draw_offsets(const uint64_t pool[static pool_size], uint64_t *offsets, uint32_t share)
{
	size_t count = 0;
	for (size_t i = 0; i < pool_size; i++)
		for (uint32_t n = draw(100) < share ? 1 + !draw(20) : 0; n; n--)
			offsets[count++] = pool[i];
	return count;
}

/* Of the C library, which has functions of all kinds. */
TEST(test_same_answers)
{
	Dl_info libc;
	uint64_t pool[pool_size], offsets[2 * pool_size];
	int wrong = 0;
	bool known = dladdr((void *)(uintptr_t)&qsort, &libc) && *libc.dli_fname == '/';
	const char *path = known ? libc.dli_fname : subject;
	int fd = open_settled(path);
	uint32_t size = (uint32_t)lseek(fd, 0, SEEK_END);
	for (size_t i = 0; i < pool_size; i++)
		pool[i] = draw(size);
	qsort(pool, pool_size, sizeof *pool, by_offset);
	struct jp_namecache *cache = open_kept();
	for (unsigned round = 0; round < 12; round++) {
		size_t count = draw_offsets(pool, offsets, round < 4 ? 20 : 60);
		struct jp_name_request request = question(fd, path, offsets, count);
		request.allocator = round % 3 == 1;
		wrong += ask_both(cache, &request);
	}
	assert_int_equal(wrong, 0);
	assert_int_equal(kept_sum().files, 2); /* by what of the allocator was asked */
	struct jp_name_request outside = question(fd, path, &(uint64_t){ UINT32_MAX }, 1);
	outside.allocator = true;
	assert_int_equal(ask_both(cache, &outside), 0); /* found, then kept */
	assert_int_equal(ask_both(cache, &outside), 0);
	jp_namecache_close(cache);
	empty_kept();
	close(fd);
}

/* Of another path, and of places outside alone. */
TEST(test_small_questions)
{
	const uint64_t outside[] = { 1u << 30 }, both[] = { 0x1000, 1u << 30 };
	int fd = open_settled(subject);
	struct jp_namecache *cache = open_kept();
	struct jp_name_request request = question(fd, subject, both, 2);
	request.allocator = true;
	assert_int_equal(ask_both(cache, &request), 0);
	request.offsets = outside;
	request.count = 1;
	assert_int_equal(ask_both(cache, &request), 0);
	assert_int_equal(kept_sum().files, 1);
	request.object.path = "elsewhere";
	assert_int_equal(ask_both(cache, &request), 0);
	request.count = 0;
	assert_int_equal(ask_both(cache, &request), 0);
	assert_int_equal(kept_sum().files, 2);
	jp_namecache_close(cache);
	empty_kept();
	close(fd);
}

/* ---- files that change --------------------------------------------------------------------------- */

static void copy_over(const char *from, const char *to)
{
	struct jp_strbuf bytes = { 0 };
	assert_int_equal(jp_file_read(from, &bytes, NULL, NULL), 0);
	int fd = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0 && write(fd, bytes.text, bytes.len) == (ssize_t)bytes.len);
	close(fd);
	jp_strbuf_release(&bytes);
}

TEST(test_changed_files)
{
	char path[64];
	uint64_t offsets[64];
	for (uint64_t i = 0; i < 64; i++)
		offsets[i] = 0x1000 + 4 * i;
	snprintf(path, sizeof path, "%s.so", dir);
	copy_over(subject, path);
	struct jp_namecache *cache = open_kept();
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct jp_name_request request = question(fd, path, offsets, 64);
	assert_int_equal(ask_both(cache, &request), 0);
	assert_int_equal(kept_sum().files, 0); /* it was made just now: it may change without a new time */
	settle(fd);
	assert_int_equal(ask_both(cache, &request), 0);
	assert_int_equal(kept_sum().files, 1);
	assert_int_equal(ask_both(cache, &request), 0);
	copy_over(stripped, path); /* the same inode */
	assert_int_equal(ask_both(cache, &request), 0);
	assert_int_equal(kept_sum().files, 1);
	unlink(path); /* nobody finds it again */
	settle(fd);
	assert_int_equal(ask_both(cache, &request), 0);
	assert_int_equal(kept_sum().files, 1);
	jp_namecache_close(cache);
	empty_kept();
	close(fd);
}

/* ---- what somebody put there ---------------------------------------------------------------------- */

static char kept_name[256];
static struct jp_strbuf kept_bytes;

static void load_kept_file(void)
{
	char command[128];
	snprintf(command, sizeof command, "ls %s", dir);
	FILE *list = popen(command, "r");
	assert_true(list && fgets(kept_name, sizeof kept_name, list));
	kept_name[strcspn(kept_name, "\n")] = '\0';
	pclose(list);
	int fd = jp_ourdir_open(dir, false);
	assert_true(jp_ourdir_read(fd, kept_name, SIZE_MAX, &kept_bytes));
	close(fd);
}

/* Puts a changed copy there, `sound`: with the sum of what it is now. How often the answers differ. */
static int ask_with(const struct jp_name_request *request, size_t at, unsigned char change, bool sound)
{
	size_t len = kept_bytes.len, sum_at = len - 8;
	unsigned char *copy = malloc(len);
	assert_non_null(copy);
	memcpy(copy, kept_bytes.text, len);
	copy[at] ^= change;
	uint64_t sum = jp_hash(3, copy, sum_at);
	for (unsigned i = 0; sound && i < 8; i++)
		copy[sum_at + i] = (unsigned char)(sum >> 8 * i);
	int fd = jp_ourdir_open(dir, false);
	assert_true(jp_ourdir_write(fd, kept_name, copy, len));
	close(fd);
	free(copy);
	struct jp_namecache *cache = open_kept();
	struct jp_namereply kept, found;
	int rc = jp_namecache_find(cache, "ab12", NULL, request, &kept, NULL), wrong = 0;
	assert_int_equal(jp_namecache_find(NULL, "ab12", NULL, request, &found, NULL), 0);
	if (rc || (!sound && differences(&kept, &found)))
		wrong = complain("byte %zu ^ %02x%s: %d", at, change, sound ? ", with a right sum" : "", rc);
	jp_namereply_release(&kept);
	jp_namereply_release(&found);
	jp_namecache_close(cache);
	return wrong;
}

/* Each byte changed: damaged files are not used. With a sum that is right the answer may be another, for it is the
 * user's own file; but it is one. */
TEST(test_hostile_files)
{
	const uint64_t offsets[] = { 0x1000, 0x1010, 1u << 30 };
	int wrong = 0, fd = open_settled(subject);
	struct jp_name_request request = question(fd, subject, offsets, 3);
	struct jp_namecache *cache = open_kept();
	assert_int_equal(ask_both(cache, &request), 0);
	jp_namecache_close(cache);
	load_kept_file();
	for (size_t i = 0; i < kept_bytes.len; i++) {
		wrong += ask_with(&request, i, 1, false) + ask_with(&request, i, 0x80, false);
		wrong += ask_with(&request, i, 1, true) + ask_with(&request, i, 0xff, true);
	}
	assert_int_equal(wrong, 0);
	jp_strbuf_release(&kept_bytes);
	empty_kept();
	close(fd);
}

/* Puts a sound file there that says, of the very files of the kept one, that their debug information is refused. */
static void put_refusal(enum jp_dwarf_state state)
{
	struct jp_namereply kept, refused = { .dwarf = state };
	struct jp_strbuf bytes = { 0 };
	assert_int_equal(jp_namereply_read(kept_bytes.text, kept_bytes.len, &kept), 0);
	refused.identity = kept.identity;
	refused.offsets = kept.offsets;
	jp_namereply_write(&refused, &bytes);
	assert_false(bytes.failed);
	int fd = jp_ourdir_open(dir, false);
	assert_true(jp_ourdir_write(fd, kept_name, bytes.text, bytes.len));
	close(fd);
	jp_namereply_release(&kept);
	jp_strbuf_release(&bytes);
}

/* Memory that is short makes libdw refuse what it could read: so no refusal is kept, and one that is there is none. */
TEST(test_refusals)
{
	const uint64_t offsets[] = { 0x1000, 0x1010 };
	int fd = open_settled(stripped);
	struct jp_name_request request = question(fd, stripped, offsets, 2);
	request.dwarf = JP_DWARF_IN_OBJECT; /* it has none */
	struct jp_namecache *cache = open_kept();
	struct jp_namereply reply;
	assert_int_equal(jp_namecache_find(cache, "ab12", NULL, &request, &reply, NULL), 0);
	assert_true(reply.dwarf == JP_DWARF_REFUSED && !reply.place_count);
	jp_namereply_release(&reply);
	assert_int_equal(kept_sum().files, 0);
	request.dwarf = JP_DWARF_NOWHERE;
	assert_int_equal(ask_both(cache, &request), 0);
	assert_int_equal(kept_sum().files, 1);
	load_kept_file();
	put_refusal(JP_DWARF_REFUSED);
	assert_int_equal(ask_both(cache, &request), 0);
	put_refusal(JP_DWARF_SHARED_REFUSED);
	assert_int_equal(ask_both(cache, &request), 0);
	jp_namecache_close(cache);
	jp_strbuf_release(&kept_bytes);
	empty_kept();
	close(fd);
}

/* Files of the cache's first format are no answers any more; they are counted and go. */
TEST(test_earlier_files)
{
	int fd = jp_ourdir_open(dir, true);
	assert_true(jp_ourdir_write(fd, "ab12-0123456789abcdef.names", "jprofnmc and more", 17));
	assert_true(jp_ourdir_write(fd, "ab13-0123456789abcdef.names", "jprofnm", 7));
	close(fd);
	assert_int_equal(kept_sum().files, 1);
	empty_kept();
}

/* Cut anywhere it is none. */
TEST(test_cut_files)
{
	uint64_t offsets[] = { 1, 5 };
	struct jp_reply_place places[] = { { .reason = JP_NAMELESS_OUTSIDE, .want = JP_NONE },
		                           { .reason = JP_NAMELESS_CODE, .want = JP_NONE } };
	struct jp_strbuf bytes = { 0 };
	struct jp_namereply read, names = {
		.places = places, .place_count = 2, .offsets = offsets, .identity = "a library", .nameless = true
	};
	jp_namereply_write(&names, &bytes);
	assert_int_equal(jp_namereply_read(bytes.text, bytes.len, &read), 0);
	assert_true(read.place_count == 2 && read.offsets[1] == 5 && read.nameless);
	assert_string_equal(read.identity, "a library");
	jp_namereply_release(&read);
	for (size_t len = 0; len < bytes.len; len++) {
		char *copy = malloc(len + 1);
		assert_non_null(copy);
		memcpy(copy, bytes.text, len);
		assert_int_equal(jp_namereply_read(copy, len, &read), JPROF_E_FORMAT);
		jp_namereply_release(&read);
		free(copy);
	}
	jp_strbuf_release(&bytes);
}

/* ---- how much ------------------------------------------------------------------------------------- */

TEST(test_limit)
{
	const uint64_t offsets[] = { 0x1000 };
	int fd = open_settled(subject);
	struct jp_name_request request = question(fd, subject, offsets, 1);
	struct jp_namecache *cache = open_kept();
	char path[24];
	for (int i = 0; i < 8; i++) {
		snprintf(path, sizeof path, "path %d", i);
		request.object.path = path;
		assert_int_equal(ask_both(cache, &request), 0);
	}
	jp_namecache_close(cache);
	struct jprof_cache_sum sum = kept_sum();
	assert_int_equal(sum.files, 8);
	assert_int_equal(jp_namecache_open(dir, sum.bytes / 2, &cache), 0);
	request.object.path = "path 9"; /* of the same length */
	assert_int_equal(ask_both(cache, &request), 0);
	jp_namecache_close(cache);
	assert_true(kept_sum().files == 4 && kept_sum().bytes <= sum.bytes / 2);
	/* Where nothing fits nothing is kept. */
	empty_kept();
	assert_int_equal(jp_namecache_open(dir, 100, &cache), 0);
	assert_int_equal(ask_both(cache, &request), 0);
	jp_namecache_close(cache);
	assert_int_equal(kept_sum().files, 0);
	/* Others can write there: no cache. */
	assert_int_equal(chmod(dir, 0777), 0);
	assert_int_equal(jp_namecache_open(dir, 0, &cache), 0);
	assert_null(cache);
	assert_int_equal(jprof_cache_measure(dir, &sum, NULL), JPROF_E_IO);
	assert_int_equal(jprof_cache_empty(dir, &sum, NULL), JPROF_E_IO);
	assert_int_equal(chmod(dir, 0700), 0);
	close(fd);
}

int main(int argc, char **argv)
{
	if (argc < 3 || !mkdtemp(dir))
		return 1;
	subject = argv[1];
	stripped = argv[2];
	int failed = run_listed(NULL, NULL);
	rmdir(dir);
	return failed;
}
