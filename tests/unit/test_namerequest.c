/* Questions for names as bytes: written and read they are equal; cut or changed anywhere they are refused, or read as
 * something sound. A finder that answers them in this process answers the same; one that lies is not believed.
 * usage: test_namerequest SUBJECT */
#include <fcntl.h>
#include <unistd.h>

#include "harness.h"
#include "input/finder.h"

static const char *subject;

static uint64_t asked[] = { 0, 0x1000, 0x1000, 0x1010, UINT64_MAX };
static struct jp_split_answer answers[] = {
	{ 7, "a.dwo", { { 11, "a.dwo" }, { 12, "a.dwo" } }, 2, NULL },
	{ UINT64_MAX, "b.dwo", { { 0 } }, 0, "b.dwo is missing" },
};

static bool yes(const void *context, const char *name)
{
	return !context && name;
}

static struct jp_name_request whole(void)
{
	return (struct jp_name_request){
		.object = { 10, "/lib/a.so" },
		.debug = { 12, "/usr/lib/debug/a.debug" },
		.shared = { -1, NULL },
		.dwarf = JP_DWARF_IN_DEBUG,
		.packs = { { 14, "p.jnames" } },
		.pack_count = 1,
		.splits = answers,
		.split_count = 2,
		.offsets = asked,
		.count = 5,
		.image = true,
		.allocator = true,
		.is_wrapper = yes,
	};
}

static void same_file(const struct jp_open_file *a, const struct jp_open_file *b)
{
	assert_int_equal(a->fd < 0 ? -1 : a->fd, b->fd);
	assert_true(!a->path == !b->path);
	if (a->path)
		assert_string_equal(a->path, b->path);
}

TEST(test_back)
{
	struct jp_name_request r = whole(), back;
	struct jp_question q = { 0 };
	struct jp_arena arena = { 0 };
	bool wrappers;
	assert_int_equal(jp_question_write(&r, &q), 0);
	assert_int_equal(q.fd_count, 4); /* 12 once */
	assert_int_equal(jp_question_read(q.bytes.text, q.bytes.len, q.fds, q.fd_count, &arena, &back, &wrappers), 0);
	assert_true(wrappers && back.image && back.allocator && back.dwarf == r.dwarf);
	same_file(&r.object, &back.object);
	same_file(&r.debug, &back.debug);
	same_file(&r.shared, &back.shared);
	assert_int_equal(back.pack_count, 1);
	same_file(&r.packs[0], &back.packs[0]);
	assert_int_equal(back.split_count, 2);
	for (size_t i = 0; i < 2; i++) {
		const struct jp_split_answer *a = &answers[i], *b = &back.splits[i];
		assert_true(a->unit == b->unit && a->count == b->count && !a->why == !b->why);
		assert_string_equal(a->name, b->name);
		for (unsigned k = 0; k < a->count; k++)
			assert_int_equal(a->files[k].fd, b->files[k].fd);
	}
	assert_string_equal(back.splits[1].why, "b.dwo is missing");
	assert_int_equal(back.count, 5);
	assert_memory_equal(back.offsets, asked, sizeof asked);
	jp_question_release(&q);
	jp_arena_release(&arena);
}

/* Whatever is read is sound: descriptors are those that were given, texts end, offsets ascend. */
static bool is_sound(const struct jp_name_request *r, const int *fds, size_t count)
{
	bool known = false;
	for (size_t i = 0; i < count; i++)
		known = known || r->object.fd == fds[i];
	for (size_t i = 1; i < r->count; i++)
		known = known && r->offsets[i - 1] <= r->offsets[i];
	size_t texts = strlen(r->object.path);
	for (size_t i = 0; i < r->split_count; i++)
		texts += strlen(r->splits[i].name) + (r->splits[i].why ? strlen(r->splits[i].why) : 0);
	return known && texts < 1000 && r->pack_count <= jp_most_packs;
}

TEST(test_damaged)
{
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
	struct jp_name_request r = whole(), back;
	struct jp_question q = { 0 };
	bool wrappers;
	size_t refused = 0;
	assert_int_equal(jp_question_write(&r, &q), 0);
	for (size_t at = 0; at < q.bytes.len; at++) {
		char *copy = malloc(q.bytes.len);
		struct jp_arena arena = { 0 };
		memcpy(copy, q.bytes.text, q.bytes.len);
		int rc = jp_question_read(copy, at, q.fds, q.fd_count, &arena, &back, &wrappers);
		assert_true(rc == JPROF_E_FORMAT || (!rc && is_sound(&back, q.fds, q.fd_count)));
		for (size_t i = 0; i < sizeof values; i++) {
			copy[at] = (char)values[i];
			rc = jp_question_read(copy, q.bytes.len, q.fds, q.fd_count, &arena, &back, &wrappers);
			assert_true(rc == JPROF_E_FORMAT || (!rc && is_sound(&back, q.fds, q.fd_count)));
			refused += rc != 0;
		}
		free(copy);
		jp_arena_release(&arena);
	}
	assert_true(refused > 200);
	struct jp_arena arena = { 0 };
	int rc = jp_question_read(q.bytes.text, q.bytes.len, q.fds, q.fd_count - 1, &arena, &back, &wrappers);
	assert_int_equal(rc, JPROF_E_FORMAT);
	jp_arena_release(&arena);
	jp_question_release(&q);
}

/* ---- finders ------------------------------------------------------------------------------------ */

struct answer {
	struct jp_strbuf bytes;
	int code;
	size_t cut;
};

static int keep_answer(void *context, const void *data, size_t len)
{
	jp_strbuf_add(context, data, len);
	return 0;
}

static int find_here(void *context, const struct jprof_name_question *q, void **answer, size_t *len,
                     struct jprof_error *err)
{
	struct answer *a = context;
	assert_int_equal(q->places, 300);
	if (a->code) {
		snprintf(err->text, sizeof err->text, "the reason");
		return a->code;
	}
	int rc = jprof_names_answer(q, keep_answer, &a->bytes, err);
	*len = a->bytes.len - a->cut;
	*answer = a->bytes.text;
	return rc;
}

TEST(test_finders)
{
	uint64_t offsets[300];
	for (size_t i = 0; i < 300; i++)
		offsets[i] = 0x1000 + 4 * i;
	int fd = open(subject, O_RDONLY);
	assert_true(fd >= 0);
	const struct jp_name_request request = { .object = { fd, subject },
		                                 .debug = { -1, NULL },
		                                 .shared = { -1, NULL },
		                                 .offsets = offsets,
		                                 .count = 300 };
	struct jp_namereply ours, theirs;
	struct answer good = { 0 }, cut = { .cut = 4 }, none = { .code = JPROF_E_UNSUPPORTED };
	struct jprof_error err = { 0 };
	assert_int_equal(jp_finder_ask(NULL, &request, &ours, NULL), 0);
	assert_int_equal(jp_finder_ask(&(struct jprof_name_finder){ find_here, &good }, &request, &theirs, NULL), 0);
	struct jp_strbuf a = { 0 }, b = { 0 };
	jp_namereply_write(&ours, &a);
	jp_namereply_write(&theirs, &b);
	assert_true(a.len > 300 && a.len == b.len && !memcmp(a.text, b.text, a.len));
	jp_strbuf_release(&a);
	jp_strbuf_release(&b);
	jp_namereply_release(&ours);
	jp_namereply_release(&theirs);
	assert_int_equal(jp_finder_ask(&(struct jprof_name_finder){ find_here, &cut }, &request, &theirs, &err),
	                 JPROF_E_FORMAT);
	assert_non_null(strstr(err.text, "damaged"));
	jp_namereply_release(&theirs);
	assert_int_equal(jp_finder_ask(&(struct jprof_name_finder){ find_here, &none }, &request, &theirs, &err),
	                 JPROF_E_UNSUPPORTED);
	assert_string_equal(err.text, "the reason");
	jp_namereply_release(&theirs);
	close(fd);
}

int main(int argc, char **argv)
{
	assert_int_equal(argc, 2);
	subject = argv[1];
	return run_listed(NULL, NULL);
}
