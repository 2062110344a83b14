/* Archives that GNU tar makes, in each of its formats: what is in them, and what is left of them when they are cut. */
#include "bundle/tar.h"

#include <stdio.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "harness.h"

#define LETTERS_64 "aaaaaaaabbbbbbbbccccccccddddddddeeeeeeeeffffffffgggggggghhhhhhhh"
#define LONG_PATH LETTERS_64 "/" LETTERS_64

static char folder[] = "/tmp/test_tar.XXXXXX";

/* What a shell says, run in the folder. */
static struct jp_strbuf shell(const char *command)
{
	struct jp_strbuf out = { 0 };
	char line[1024], chunk[4096];
	snprintf(line, sizeof line, "cd %s && %s", folder, command);
	FILE *from = popen(line, "r");
	assert_non_null(from);
	for (size_t n; (n = fread(chunk, 1, sizeof chunk, from));)
		jp_strbuf_add(&out, chunk, n);
	assert_int_equal(pclose(from), 0);
	return out;
}

static int make_files(void **state)
{
	(void)state;
	assert_non_null(mkdtemp(folder));
	struct jp_strbuf said = shell("mkdir " LETTERS_64 " && printf first >" LONG_PATH " && seq 1000 >numbers && "
	                              "printf '' >empty && ln -s numbers link");
	jp_strbuf_release(&said);
	return 0;
}

static int remove_files(void **state)
{
	(void)state;
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

static void test_formats(void **state)
{
	static const char *const formats[] = { "gnu", "oldgnu", "ustar", "posix" };
	char command[256], found[1024];
	(void)state;
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
static void test_tar_cuts(void **state)
{
	struct jp_strbuf tar = shell("tar --format=posix -b1 -cf - numbers " LETTERS_64);
	char whole[1024], found[1024];
	(void)state;
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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_formats), cmocka_unit_test(test_tar_cuts) };
	return cmocka_run_group_tests(tests, make_files, remove_files);
}
