/* Compressed files: of every kind, twice over, cut, damaged, and bombs. */
#include "input/unpack.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include "base/reader.h"
#include "formats.h"

static const char sample[] = SAMPLES "/heaps/jemalloc-5.3.0.heap";

/* How many bytes it made, 0: none. */
typedef size_t filter_fn(const void *data, size_t len, char *to, size_t room);

static size_t filter_gzip(const void *data, size_t len, char *to, size_t room)
{
	z_stream z = {
		.next_in = (Bytef *)data, .avail_in = (uInt)len, .next_out = (Bytef *)to, .avail_out = (uInt)room
	};
	assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return room - z.avail_out;
}

static size_t filter_xz(const void *data, size_t len, char *to, size_t room)
{
	size_t n = 0;
	assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC64, NULL, data, len, (uint8_t *)to, &n, room),
	                 LZMA_OK);
	return n;
}

static size_t filter_zstd(const void *data, size_t len, char *to, size_t room)
{
	return ZSTD_compress(to, room, data, len, 3);
}

static filter_fn *const filters[] = { filter_gzip, filter_xz, filter_zstd };
enum { filter_count = jp_count(filters) };

static struct jp_strbuf packed(filter_fn *filter, const void *data, size_t len)
{
	size_t room = len + 65536;
	struct jp_strbuf out = { .text = malloc(room), .cap = room };
	assert_non_null(out.text);
	out.len = filter(data, len, out.text, room);
	assert_in_range(out.len, 1, room);
	return out;
}

TEST(test_kinds)
{
	struct jp_strbuf text = whole_file(sample);
	struct jprof_profile *plain = must_parse(text.text, text.len, NULL);
	for (size_t i = 0; i < filter_count; i++)
		for (size_t twice = 0; twice < 2; twice++) {
			struct jp_strbuf one = packed(filters[i], text.text, text.len);
			struct jp_strbuf two = packed(filters[(i + 1) % filter_count], one.text, one.len);
			const struct jp_strbuf *given = twice ? &two : &one;
			struct jprof_profile *p = must_parse(given->text, given->len, NULL);
			assert_int_equal(jprof_profile_notes(p), 0);
			assert_true(jprof_profile_total(p, JPROF_INUSE_SPACE) ==
			            jprof_profile_total(plain, JPROF_INUSE_SPACE));
			assert_true(jprof_dump_probe(given->text, given->len < 512 ? given->len : 512));
			struct jprof_dump *dump;
			assert_int_equal(jprof_dump_parse(given->text, given->len, NULL, &dump, NULL), 0);
			jprof_dump_free(dump);
			jprof_profile_free(p);
			jp_strbuf_release(&one);
			jp_strbuf_release(&two);
		}
	jprof_profile_free(plain);
	jp_strbuf_release(&text);
}

TEST(test_thrice)
{
	struct jp_strbuf a = packed(filters[0], "x", 1), b = packed(filters[0], a.text, a.len),
			 c = packed(filters[0], b.text, b.len);
	must_refuse(c.text, c.len, "more than 2 times over");
	must_refuse(b.text, b.len, "is no heap dump");
	jp_strbuf_release(&a);
	jp_strbuf_release(&b);
	jp_strbuf_release(&c);
}

/* At every length: an error or a part with one note, never a silent whole. */
static void check_cuts(filter_fn *filter, const struct jp_strbuf *text)
{
	struct jp_strbuf all = packed(filter, text->text, text->len);
	size_t sound = 0;
	for (size_t len = 0; len < all.len; len += len < 64 || len + 64 > all.len ? 1 : 37) {
		struct jprof_error err = { 0 };
		struct jprof_profile *p;
		if (jprof_profile_parse(all.text, len, "test", NULL, &p, &err)) {
			assert_true(*err.text);
			continue;
		}
		assert_noted(p, "cut or damaged");
		assert_int_equal(jprof_profile_notes(p), 1);
		jprof_profile_free(p);
		sound++;
	}
	assert_true(sound > 0 || filter != filter_gzip);
	jp_strbuf_release(&all);
}

TEST(test_cuts)
{
	struct jp_strbuf text = whole_file(SAMPLES "/cases/ruby31/iseq.1.heap");
	check_cuts(filters[0], &text);
	struct jp_strbuf small = whole_file(sample);
	for (size_t i = 1; i < filter_count; i++)
		check_cuts(filters[i], &small);
	jp_strbuf_release(&text);
	jp_strbuf_release(&small);
}

/* One bit of the data differs: the sums of the formats tell. ZSTD_compress writes none. */
TEST(test_flipped)
{
	struct jp_strbuf text = whole_file(sample);
	for (size_t i = 0; i < filter_count && filters[i] != filter_zstd; i++) {
		struct jp_strbuf all = packed(filters[i], text.text, text.len);
		struct jprof_profile *p;
		all.text[all.len - (filters[i] == filter_gzip ? 6 : all.len / 2)] ^= 1;
		struct jprof_error err = { 0 };
		if (jprof_profile_parse(all.text, all.len, "test", NULL, &p, &err)) {
			assert_non_null(strstr(err.text, "cut or damaged"));
		} else {
			assert_noted(p, "cut or damaged");
			jprof_profile_free(p);
		}
		jp_strbuf_release(&all);
	}
	jp_strbuf_release(&text);
}

/* gzip files may follow each other, as `cat a.gz b.gz` makes them. */
TEST(test_members)
{
	struct jp_strbuf text = whole_file(sample), a = packed(filters[0], text.text, 1000),
			 b = packed(filters[0], text.text + 1000, text.len - 1000);
	jp_strbuf_add(&a, b.text, b.len);
	struct jprof_profile *p = must_parse(a.text, a.len, NULL);
	assert_int_equal(jprof_profile_notes(p), 0);
	jprof_profile_free(p);
	jp_strbuf_release(&text);
	jp_strbuf_release(&a);
	jp_strbuf_release(&b);
}

/* Bytes in memory that come `step` at a time; when `end` have come a read fails, unless that is all of them. */
struct slow_source {
	struct jp_bytesource source;
	const struct jp_strbuf *bytes;
	size_t at, step, end;
};

static int pull_slow(struct jp_bytesource *source, char *to, size_t room, size_t *got, struct jprof_error *err)
{
	struct slow_source *s = (struct slow_source *)source;
	size_t n = s->end - s->at < s->step ? s->end - s->at : s->step;
	*got = n < room ? n : room;
	memcpy(to, s->bytes->text + s->at, *got);
	s->at += *got;
	if (*got || s->end == s->bytes->len)
		return 0;
	*err = (struct jprof_error){ .code = JPROF_E_IO };
	return JPROF_E_IO;
}

static void close_slow(struct jp_bytesource *source)
{
	(void)source;
}

/* What comes of a source, and how it ended. */
static int unpack_slowly(const struct jp_strbuf *bytes, size_t step, size_t end, struct jp_strbuf *out,
                         struct jprof_error *fault)
{
	struct slow_source slow = { { pull_slow, close_slow }, bytes, 0, step, end };
	struct jp_window window = { .source = &slow.source };
	*fault = (struct jprof_error){ 0 };
	jp_window_fill(&window, jp_sniff_enough);
	int rc = window.rc ? window.rc : jp_unpack_window(&window, "test", &jp_unpack_default, fault, NULL);
	if (!rc) {
		jp_window_fill(&window, SIZE_MAX);
		jp_strbuf_add(out, window.text + window.at, window.len - window.at);
		rc = window.rc;
	}
	jp_window_release(&window);
	return rc;
}

/* Two streams, with bytes before the first, between them and behind: what is read of them, and whether that is all
 * that should be there (`fault` NULL). */
static void check_between(filter_fn *filter, struct jp_span before, struct jp_span between, struct jp_span behind,
                          const char *read, const char *fault)
{
	struct jp_strbuf a = packed(filter, "first ", 6), b = packed(filter, "second", 6), all = { 0 };
	jp_strbuf_add(&all, before.ptr, before.len);
	jp_strbuf_add(&all, a.text, a.len);
	jp_strbuf_add(&all, between.ptr, between.len);
	jp_strbuf_add(&all, b.text, b.len);
	jp_strbuf_add(&all, behind.ptr, behind.len);
	for (size_t step = 1; step <= all.len; step += step < 20 ? 1 : all.len / 3) {
		struct jp_strbuf out = { 0 };
		struct jprof_error said;
		assert_int_equal(unpack_slowly(&all, step, all.len, &out, &said), 0);
		assert_int_equal(out.len, strlen(read));
		assert_memory_equal(out.text, read, out.len);
		assert_int_equal(said.code, fault ? JPROF_E_FORMAT : 0);
		assert_true(!fault || strstr(said.text, fault));
		jp_strbuf_release(&out);
	}
	jp_strbuf_release(&a);
	jp_strbuf_release(&b);
	jp_strbuf_release(&all);
}

#define BYTES(text) ((struct jp_span){ (text), sizeof(text) - 1 })
static const char both[] = "first second", no_stream[] = "no stream";

/* A frame to be skipped may have any size and one of 16 magics; pzstd begins each of its frames with one. */
TEST(test_skippable_frames)
{
	static const struct jp_span none = { "", 0 };
	static char large[70000] = "\x5f\x2a\x4d\x18\x68\x11\x01"; /* 8 bytes and 70,000 - 8 */
	const struct jp_span frames[] = { BYTES("\x50\x2a\x4d\x18\4\0\0\0\1\2\3\4"),
		                          BYTES("\x57\x2a\x4d\x18\0\0\0\0"),
		                          BYTES("\x50\x2a\x4d\x18\0\0\0\0\x51\x2a\x4d\x18\1\0\0\0x"),
		                          { large, sizeof large } };
	for (size_t i = 0; i < jp_count(frames); i++) {
		check_between(filter_zstd, none, frames[i], none, both, NULL);
		check_between(filter_zstd, frames[i], none, none, both, NULL);
		check_between(filter_zstd, frames[i], frames[i], frames[i], both, NULL);
	}
	check_between(filter_zstd, none, none, BYTES("\x50\x2a\x4d\x18\4\0\0\0\1"), both, "ends too early");
	check_between(filter_gzip, none, frames[0], none, "first ", no_stream);
}

/* Zeros behind the last stream are none of it, as on tapes; between two only xz allows them, in fours. */
TEST(test_padding)
{
	static const struct jp_span none = { "", 0 };
	static const char zeros[1000];
	static const size_t lengths[] = { 1, 3, 4, 5, 8, 12, sizeof zeros };
	for (size_t i = 0; i < filter_count; i++)
		for (size_t k = 0; k < jp_count(lengths); k++) {
			struct jp_span padding = { zeros, lengths[k] };
			bool legal = filters[i] == filter_xz && padding.len % 4 == 0;
			check_between(filters[i], none, none, padding, both, NULL);
			check_between(filters[i], none, padding, none, legal ? both : "first ",
			              legal ? NULL : no_stream);
		}
}

/* `gzip -t` says of such a file that there is garbage behind its end. */
TEST(test_no_stream)
{
	static const struct jp_span none = { "", 0 };
	for (size_t i = 0; i < filter_count; i++) {
		check_between(filters[i], none, none, none, both, NULL);
		check_between(filters[i], none, BYTES("x"), none, "first ", no_stream);
		check_between(filters[i], none, none, BYTES("\n"), both, no_stream);
		check_between(filters[i], none, none, BYTES("\0\0\0\0more"), both, no_stream);
	}
}

/* A file that cannot be read on where a stream ends is not at its end. */
TEST(test_read_errors)
{
	struct jp_strbuf text = whole_file(sample);
	for (size_t i = 0; i < filter_count; i++) {
		struct jp_strbuf all = packed(filters[i], text.text, text.len), out = { 0 };
		struct jprof_error fault;
		size_t first = all.len;
		assert_true(first > jp_sniff_enough);
		jp_strbuf_add(&all, all.text, first);
		for (size_t end = first - 1; end <= first + 1; end++)
			assert_int_equal(unpack_slowly(&all, first, end, &out, &fault), JPROF_E_IO);
		jp_strbuf_release(&out);
		jp_strbuf_release(&all);
	}
	jp_strbuf_release(&text);
}

TEST(test_bombs)
{
	static const struct jp_unpack_limits small = { .size = 1 << 20, .free_size = 1 << 16, .ratio = 100 },
					     tight = { .size = 1 << 18, .free_size = 1 << 16, .ratio = 100000 };
	char *zeros = calloc(1, 1 << 19);
	assert_non_null(zeros);
	for (size_t i = 0; i < filter_count; i++) {
		struct jp_strbuf bomb = packed(filters[i], zeros, 1 << 19), out = { 0 };
		struct jprof_error fault = { 0 }, err = { 0 };
		assert_int_equal(jp_unpack(bomb.text, bomb.len, "test", &small, &out, &fault, &err),
		                 JPROF_E_UNSUPPORTED);
		assert_non_null(strstr(err.text, "times its size"));
		jp_strbuf_release(&out);
		assert_int_equal(jp_unpack(bomb.text, bomb.len, "test", &tight, &out, &fault, &err),
		                 JPROF_E_UNSUPPORTED);
		assert_non_null(strstr(err.text, "MB, which is no profile"));
		jp_strbuf_release(&out);
		assert_int_equal(jp_unpack(bomb.text, bomb.len, "test", &jp_unpack_default, &out, &fault, &err), 0);
		assert_int_equal(out.len, 1 << 19);
		jp_strbuf_release(&out);
		jp_strbuf_release(&bomb);
	}
	free(zeros);
}
