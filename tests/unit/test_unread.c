/* Files that may be there and cannot be read: what was lost is said; what is not there is no news. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/file.h"
#include "harness.h"
#include "model/code.h"
#include "render/source.h"

static const char text[] = "heap_v2/1\n"
			   "@ 0x401000 0x501000 0x601000\n  t*: 1: 1000 [0: 0]\n"
			   "\nMAPPED_LIBRARIES:\n"
			   "00400000-00500000 r-xp 00000000 08:01 42   /opt/app/server\n"
			   "00500000-00600000 r-xp 00000000 08:01 43   /usr/lib/libb.so\n"
			   "00600000-00700000 r-xp 00000000 08:01 44   /usr/lib/liba.so\n";

/* What an opener does; `errors` for the first files, then the last of them. */
struct script {
	int errors[3];
	size_t asked;
};

static int open_by_script(void *context, enum jprof_open what, const char *path, struct stat *st)
{
	struct script *s = context;
	(void)path;
	if (what != JPROF_OPEN_FILE) {
		errno = ENOENT;
		return -1;
	}
	errno = s->errors[s->asked < 2 ? s->asked : 2];
	s->asked++;
	if (errno)
		return -1;
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC); /* reading it at 0 fails */
	assert_int_equal(fstat(fd, st), 0);
	return fd;
}

/* The notes of a profile whose files are opened so; for free(). */
static char *notes_of(struct script s)
{
	const struct jprof_opener opener = { .open = open_by_script, .context = &s };
	const struct jprof_symbolize_opts opts = { .size = sizeof opts, .sysroot = "/", .opener = &opener };
	struct jprof_profile *p = profile_of(text);
	char *all = calloc(1, 4096);
	assert_int_equal(jprof_profile_symbolize(p, &opts, NULL), 0);
	for (size_t i = 0; i < jprof_profile_notes(p); i++) {
		assert_is_message(jprof_profile_note(p, i));
		strncat(all, jprof_profile_note(p, i), 1000);
		strcat(all, jprof_profile_note_advice(p, i) == JPROF_ADVICE_AGAIN ? " AGAIN\n" : "\n");
	}
	jprof_profile_free(p);
	return all;
}

TEST(test_object_files)
{
	static const struct {
		struct script opens;
		const char *file; /* NULL: no note */
		const char *why;  /* NULL: libc's words for the error */
		int error;
		const char *more;
	} cases[] = {
		{ { { ENOENT, EACCES, ENOTDIR }, 0 }, NULL, NULL, 0, NULL },
		{ { { ENOENT, EMFILE, ENOENT }, 0 }, "/usr/lib/libb.so", NULL, EMFILE, "" },
		{ { { EMFILE, EIO, ENOENT }, 0 }, "/opt/app/server", NULL, EMFILE, "; nor can 1 more file" },
		{ { { ECHILD, ECHILD, ECHILD }, 0 },
		  "/opt/app/server",
		  "the process that opens files has ended",
		  0,
		  "; nor can 2 more files" },
		{ { { ENOENT, ENOENT, ETIMEDOUT }, 0 }, "/usr/lib/liba.so", "its file system does not answer", 0, "" },
		{ { { ENOENT, 0, ENOENT }, 0 }, "/usr/lib/libb.so", NULL, EIO, "" },
	};
	int wrong = 0;
	for (size_t i = 0; i < jp_count(cases); i++) {
		char *notes = notes_of(cases[i].opens), wanted[512] = "";
		if (cases[i].file)
			snprintf(wanted, sizeof wanted, "%s cannot be read: %s%s; names may be missing AGAIN\n",
			         cases[i].file, cases[i].why ? cases[i].why : strerror(cases[i].error), cases[i].more);
		if (strcmp(notes, wanted) != 0)
			wrong += complain("case %zu: \"%s\", not \"%s\"", i, notes, wanted);
		free(notes);
	}
	assert_int_equal(wrong, 0);
}

TEST(test_source_files)
{
	static const struct {
		const char *dir, *path, *doubt, *trouble;
		bool unread;
	} cases[] = {
		{ "/proc/self", "/src/mem", NULL, "/proc/self/mem: ", true },
		{ "/proc", "/self/mem", NULL, "/proc/self/mem: ", true },
		{ "/proc/self", "/src/nothing.c", NULL, "/src/nothing.c: No such file or directory", false },
		{ "/dev", "/src/null", "is no evidence", "/src/null: is no evidence", false },
	};
	const struct jp_code code = { .debug_root = JP_NONE };
	for (size_t i = 0; i < jp_count(cases); i++) {
		const struct jprof_report_opts opts = { .size = sizeof opts, .source_path = cases[i].dir };
		struct jp_source source;
		assert_int_equal(jp_source_open(&source, cases[i].path, cases[i].doubt, &code, &opts), 0);
		assert_int_equal(source.count, 0);
		char wanted[128];
		snprintf(wanted, sizeof wanted, "%s%s", cases[i].trouble, cases[i].unread ? strerror(EIO) : "");
		assert_string_equal(source.trouble.text, wanted);
		assert_int_equal(source.unread, cases[i].unread);
		jp_source_release(&source);
	}
}

/* What is said of an error is said of the first one: closing is no other. */
TEST(test_closing_keeps_errno)
{
	int fd = 1 << 20;
	errno = ENOENT;
	jp_file_close(&fd);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(fd, -1);
}
