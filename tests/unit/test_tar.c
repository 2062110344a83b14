/* Archives that GNU tar makes, in each of its formats: what is in them, and what is left of them when they are cut. */
#include "bundle/tar.h"

#include "base/strbuf.h"
#include "harness.h"

#define LETTERS_64 "aaaaaaaabbbbbbbbccccccccddddddddeeeeeeeeffffffffgggggggghhhhhhhh"
#define LONG_PATH LETTERS_64 "/" LETTERS_64

static char folder[] = "/tmp/test_tar.XXXXXX";

/* What a shell says, run in the folder. */
static struct jp_strbuf shell(const char *command)
{
	struct jp_strbuf out = { 0 };
	char line[2048], chunk[4096];
	snprintf(line, sizeof line, "cd %s && %s", folder, command);
	FILE *from = popen(line, "r");
	assert_non_null(from);
	for (size_t n; (n = fread(chunk, 1, sizeof chunk, from));)
		jp_strbuf_add(&out, chunk, n);
	assert_int_equal(pclose(from), 0);
	return out;
}

FIXTURE(make_files)
{
	assert_non_null(mkdtemp(folder));
	struct jp_strbuf said = shell("mkdir " LETTERS_64 " && printf first >" LONG_PATH " && seq 1000 >numbers && "
	                              "printf '' >empty && ln -s numbers link");
	jp_strbuf_release(&said);
	return 0;
}

FIXTURE(remove_files)
{
	struct jp_strbuf said = shell("rm -r " LETTERS_64 " numbers empty link && rmdir $PWD");
	jp_strbuf_release(&said);
	return 0;
}

/* The files of an archive, as "PATH LENGTH;" one after the other, and how it ends. */
static void describe(const void *data, size_t len, char text[1024])
{
	struct jp_tar tar = { .data = data, .len = len };
	struct jp_tar_entry e;
	enum jp_tar_result result;
	size_t at = 0;
	*text = '\0';
	while ((result = jp_tar_next(&tar, &e)) == JP_TAR_ENTRY) {
		assert_true(e.data >= tar.data && e.data + e.len <= tar.data + tar.len);
		if (e.file && at < 900)
			at += (size_t)snprintf(text + at, 1024 - at, "%s %zu%s;", e.path, e.len, e.cut ? " cut" : "");
	}
	snprintf(text + at, 1024 - at, "%s", result == JP_TAR_END ? "end" : "damaged");
}

TEST(test_formats)
{
	static const char *const formats[] = { "gnu", "oldgnu", "ustar", "posix" };
	char command[256], found[1024];
	for (size_t i = 0; i < jp_count(formats); i++) {
		snprintf(command, sizeof command, "tar --format=%s -cf - %s numbers empty link", formats[i],
		         LETTERS_64);
		struct jp_strbuf tar = shell(command);
		describe(tar.text, tar.len, found);
		assert_string_equal(found, LONG_PATH " 5;numbers 3893;empty 0;end");
		jp_strbuf_release(&tar);
	}
	struct jp_strbuf old = shell("tar --format=v7 -cf - ./numbers empty");
	describe(old.text, old.len, found);
	assert_string_equal(found, "./numbers 3893;empty 0;end");
	jp_strbuf_release(&old);
}

/* At every length, in memory of its own: no byte behind it is read, and nothing is invented. */
TEST(test_tar_cuts)
{
	struct jp_strbuf tar = shell("tar --format=posix -b1 -cf - numbers " LETTERS_64);
	char whole[1024], found[1024];
	describe(tar.text, tar.len, whole);
	for (size_t len = 0; len < tar.len; len += 13) {
		char *cut = malloc(len ? len : 1);
		assert_non_null(cut);
		memcpy(cut, tar.text, len);
		describe(cut, len, found);
		const char *first = strchr(found, ';');
		assert_true(!first || strstr(found, " cut;") || !strncmp(found, whole, (size_t)(first - found)));
		free(cut);
	}
	tar.text[200] ^= 1;
	describe(tar.text, tar.len, found);
	assert_string_equal(found, "damaged");
	jp_strbuf_release(&tar);
}

/* A name that fits counts whole; one that does not is none, and not what fits of it or what its header has. */
TEST(test_long_names)
{
	static const char *const formats[] = { "gnu", "posix" };
	static const size_t lengths[] = { 100, 101, 254, 255, 256, 257, 300, 700 };
	char command[1024], name[701], found[1024], expected[1024];
	for (size_t i = 0; i < jp_count(formats); i++)
		for (size_t k = 0; k < jp_count(lengths); k++) {
			memset(name, 'n', sizeof name);
			name[lengths[k]] = '\0';
			snprintf(command, sizeof command,
			         "tar --format=%s --transform s,^numbers,%s, -cf - numbers empty", formats[i], name);
			struct jp_strbuf tar = shell(command);
			describe(tar.text, tar.len, found);
			snprintf(expected, sizeof expected, "%s 3893;empty 0;end", lengths[k] < 256 ? name : "");
			assert_string_equal(found, expected);
			jp_strbuf_release(&tar);
		}
}

/* The longest that ustar can say: 155 bytes, a slash and 100. */
TEST(test_longest_ustar)
{
	char command[1024], first[156], last[101], found[1024], expected[1024];
	memset(first, 'f', sizeof first);
	memset(last, 'l', sizeof last);
	last[100] = '\0';
	for (int len = 154; len <= 155; len++) {
		first[len] = '\0';
		snprintf(command, sizeof command,
		         "tar --format=ustar --transform s,^numbers,%s/%s, -cf - numbers empty", first, last);
		struct jp_strbuf tar = shell(command);
		describe(tar.text, tar.len, found);
		snprintf(expected, sizeof expected, "%s%s%s 3893;empty 0;end", len < 155 ? first : "",
		         len < 155 ? "/" : "", len < 155 ? last : "");
		assert_string_equal(found, expected);
		jp_strbuf_release(&tar);
		first[len] = 'f';
	}
}

/* What a global header says is no name of the next entry; a name of an entry that was passed over names no other. */
TEST(test_others_names)
{
	char found[1024];
	struct jp_strbuf tar = shell("tar --format=posix --pax-option=path=global -cf - numbers empty");
	assert_int_equal(tar.text[156], 'g');
	describe(tar.text, tar.len, found);
	assert_string_equal(found, "numbers 3893;empty 0;end");
	jp_strbuf_release(&tar);
	tar = shell("tar --format=gnu --transform s,^link," LONG_PATH LONG_PATH ", -cf - link numbers");
	describe(tar.text, tar.len, found);
	assert_string_equal(found, "numbers 3893;end");
	jp_strbuf_release(&tar);
}

/* Puts a size's 12 bytes and the sum that belongs to it into a header. */
static void put_size(char *header, const char size[12])
{
	unsigned sum = 0;
	memcpy(header + 124, size, 12);
	memset(header + 148, ' ', 8);
	for (size_t i = 0; i < 512; i++)
		sum += (unsigned char)header[i];
	snprintf(header + 148, 8, "%06o", sum);
}

/* Sizes that 11 octal digits cannot say: GNU's binary ones, and those of pax, of which the header's is then 0. */
TEST(test_other_sizes)
{
	char found[1024];
	struct jp_strbuf tar = shell("tar --format=gnu -cf - numbers empty");
	put_size(tar.text, "\200\0\0\0\0\0\0\0\0\0\x0f\x35");
	describe(tar.text, tar.len, found);
	assert_string_equal(found, "numbers 3893;empty 0;end");
	put_size(tar.text, "\200\0\0\0\377\377\377\377\377\377\377\377");
	describe(tar.text, tar.len, found);
	assert_non_null(strstr(found, " cut;end"));
	put_size(tar.text, "\200\0\0\1\0\0\0\0\0\0\0\0");
	describe(tar.text, tar.len, found);
	assert_string_equal(found, "damaged");
	put_size(tar.text, "\377\377\377\377\377\377\377\377\377\377\377\377");
	describe(tar.text, tar.len, found);
	assert_string_equal(found, "damaged");
	jp_strbuf_release(&tar);
	tar = shell("tar --format=posix --pax-option=size:=3893 -cf - numbers && tar --format=ustar -cf - empty");
	assert_int_equal(tar.text[156], 'x');
	put_size(tar.text + 1024, "00000000000");
	describe(tar.text, tar.len, found);
	assert_string_equal(found, "numbers 3893;end");
	jp_strbuf_release(&tar);
}

/* What an archive holds of a sparse file is not its bytes; 30 holes need more than one header. */
TEST(test_sparse)
{
	static const char *const ways[] = { "oldgnu", "gnu", "posix --sparse-version=0.0", "posix --sparse-version=0.1",
		                            "posix --sparse-version=1.0" };
	char command[512], found[1024];
	struct jp_strbuf said = shell("for n in $(seq 30); do printf data | dd of=holes bs=4096 seek=$((n * 16)) "
	                              "conv=notrunc 2>/dev/null; done; truncate -s 4M holes");
	jp_strbuf_release(&said);
	for (size_t i = 0; i < jp_count(ways); i++) {
		snprintf(command, sizeof command, "tar --format=%s -Scf - holes numbers empty", ways[i]);
		struct jp_strbuf tar = shell(command);
		assert_true(tar.len < 1 << 20);
		describe(tar.text, tar.len, found);
		assert_string_equal(found, "numbers 3893;empty 0;end");
		for (size_t len = 0; len < tar.len; len += 257) {
			char *cut = malloc(len ? len : 1);
			assert_non_null(cut);
			memcpy(cut, tar.text, len);
			describe(cut, len, found);
			free(cut);
		}
		jp_strbuf_release(&tar);
	}
	said = shell("rm holes");
	jp_strbuf_release(&said);
}

TESTS_BETWEEN(make_files, remove_files)
