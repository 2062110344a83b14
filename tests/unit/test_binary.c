/* usage: test_binary LIBRARY STRIPPED: unit_subject.c as a library, and without .symtab. What readelf says is the
 * truth. */
#include <limits.h>

#include "harness.h"

static const char *library, *stripped;

/* The text between `before` and `after` in the n-th line that has it, of what readelf says; "" if there is none. */
static void readelf(const char *options, const char *file, const char *before, char after, size_t n, char *text)
{
	char command[PATH_MAX + 64], line[4096];
	snprintf(command, sizeof command, "LC_ALL=C readelf -W %s '%s' 2>/dev/null", options, file);
	FILE *in = popen(command, "r");
	assert_non_null(in);
	*text = '\0';
	while (fgets(line, sizeof line, in)) {
		char *at = strstr(line, before);
		if (!at || n--)
			continue;
		at += strlen(before);
		snprintf(text, 1024, "%.*s", (int)(strchr(at, after) - at), at);
		break;
	}
	while (fgets(line, sizeof line, in))
		;
	pclose(in);
}

static void check_binary(const char *path)
{
	struct jprof_binary *b;
	char truth[1024];
	assert_int_equal(jprof_binary_open(NULL, path, &b, NULL), 0);
	const struct jprof_binary_info *info = jprof_binary_info(b);
	readelf("-l", path, "program interpreter: ", ']', 0, truth);
	assert_string_equal(info->interpreter, truth);
	readelf("-n", path, "Build ID: ", '\n', 0, truth);
	assert_string_equal(info->build_id, truth);
	readelf("-h", path, "Class:                             ELF", '\n', 0, truth);
	assert_int_equal(info->bits, atoi(truth));
	size_t count = jprof_binary_needed_count(b);
	for (size_t i = 0; i <= count; i++) {
		readelf("-d", path, "Shared library: [", ']', i, truth);
		assert_string_equal(i < count ? jprof_binary_needed(b, i) : "", truth);
	}
	jprof_binary_free(b);
}

/* This test and its loader; the shell. */
TEST(test_as_readelf)
{
	char self[PATH_MAX];
	struct jprof_binary *b;
	assert_non_null(realpath("/proc/self/exe", self));
	check_binary(self);
	check_binary("/bin/sh");
	check_binary(library);
	assert_int_equal(jprof_binary_open(NULL, self, &b, NULL), 0);
	const char *interpreter = jprof_binary_info(b)->interpreter;
	assert_string_equal(jprof_binary_info(b)->libc, strstr(interpreter, "ld-musl") ? "musl" : "glibc");
	jprof_binary_free(b);
}

TEST(test_symbols)
{
	struct jprof_binary *b;
	assert_int_equal(jprof_binary_open(NULL, library, &b, NULL), 0);
	assert_true(jprof_binary_defines(b, "subject_exported"));
	assert_true(jprof_binary_defines(b, "subject_static"));
	assert_false(jprof_binary_defines(b, "subject_export"));
	assert_true(jprof_binary_exports(b, "subject_exported"));
	assert_false(jprof_binary_exports(b, "subject_static"));
	assert_int_equal(jprof_binary_source(b), JPROF_SOURCE_SYMTAB);
	assert_int_equal(jprof_binary_source(b), JPROF_SOURCE_SYMTAB);
	assert_string_equal(jprof_binary_info(b)->interpreter, "");
	assert_string_equal(jprof_binary_info(b)->libc, ""); /* made with -nostdlib */
	jprof_binary_free(b);
	assert_int_equal(jprof_binary_open(NULL, stripped, &b, NULL), 0);
	assert_true(jprof_binary_defines(b, "subject_exported"));
	assert_false(jprof_binary_defines(b, "subject_static"));
	assert_int_equal(jprof_binary_source(b), JPROF_SOURCE_DYNSYM);
	jprof_binary_free(b);
}

TEST(test_refused)
{
	struct jprof_binary *b = NULL;
	struct jprof_error err;
	assert_int_equal(jprof_binary_open(NULL, "/dev/null", &b, &err), JPROF_E_IO);
	assert_int_equal(jprof_binary_open(NULL, "/etc/passwd", &b, &err), JPROF_E_FORMAT);
	assert_string_equal(err.text, "is no ELF file");
	assert_int_equal(jprof_binary_open("/proc/self", "/no/such", &b, &err), JPROF_E_IO);
	assert_null(b);
	jprof_binary_free(NULL);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 1;
	library = argv[1];
	stripped = argv[2];
	return run_listed(NULL, NULL);
}
