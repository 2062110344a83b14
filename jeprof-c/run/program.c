#include "run/program.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/names.h"
#include "cli/say.h"
#include "cli/shortage.h"
#include "run/launcher.h"

enum { hops_max = 8, line_max = 256 };

/* The words of a "#!" line, in `line`; false if the file begins otherwise. */
static bool script_words(const char *path, char *line, char **words, size_t cap)
{
	FILE *file = fopen(path, "re");
	bool good = file && fgets(line, line_max, file) && !strncmp(line, "#!", 2);
	size_t n = 0;
	if (file)
		fclose(file);
	if (!good)
		return false;
	char *rest;
	for (char *word = strtok_r(line + 2, " \t\r\n", &rest); word && n + 1 < cap;
	     word = strtok_r(NULL, " \t\r\n", &rest))
		words[n++] = word;
	words[n] = NULL;
	return n > 0;
}

/* The same place as seen from anywhere; links stay, for a name may be all that tells one program from another. */
static char *absolute(const char *path)
{
	char *cwd = *path == '/' ? NULL : shortage_note(getcwd(NULL, 0)), *text = NULL;
	while (!strncmp(path, "./", 2))
		path += 2;
	if (!cwd)
		return shortage_note(strdup(path));
	if (shortage_unprinted(asprintf(&text, "%s/%s", cwd, path)))
		text = NULL;
	free(cwd);
	return text;
}

int program_open(struct program *t, const char *path, struct jprof_error *err)
{
	*t = (struct program){ .path = absolute(path) };
	if (!t->path)
		return fail_as(err, JPROF_E_NOMEM, "", "memory is short");
	int rc = shortage_note_code(jprof_binary_open(NULL, path, &t->binary, err));
	if (rc) {
		program_free(t);
		return rc;
	}
	t->name = jp_basename(t->path);
	struct stat st;
	char caps[64];
	t->secure = (!stat(path, &st) && st.st_mode & (S_ISUID | S_ISGID)) ||
	            getxattr(path, "security.capability", caps, sizeof caps) > 0;
	t->may_be = is_launcher(t->name);
	return 0;
}

/* Where a command line leads to. */
struct way {
	char *path;        /* of what runs now; owned */
	char *const *argv; /* its words; NULL: not known */
	char line[line_max];
	char *words[16]; /* of its "#!" line */
};

static int way_to(struct way *w, const char *name, struct jprof_error *err)
{
	char *found = program_in_path(name);
	if (!found)
		return fail_as(err, JPROF_E_IO, w->path, "starts %s, which is not in PATH", name);
	free(w->path);
	w->path = found;
	return 0;
}

/* One step on the way: 1 it is over, 0 go on, below 0 an error. */
static int follow_command(struct way *w, struct program *t, struct jprof_error *err)
{
	struct launch launch = { 0 };
	if (w->argv && launcher_read(w->argv, &launch) && launch.inner) {
		t->user = launch.user ? launch.user : t->user;
		t->sets = launch.sets ? launch.sets : t->sets;
		t->dropped_by = launch.drops ? w->argv[0] : t->dropped_by;
		w->argv += launch.inner;
		return way_to(w, w->argv[0], err);
	}
	w->argv = NULL;
	if (!script_words(w->path, w->line, w->words, sizeof w->words / sizeof *w->words))
		return 1;
	if (!t->script)
		t->script = shortage_note(strdup(jp_basename(w->path)));
	char *name = launcher_read(w->words, &launch) && launch.inner ? w->words[launch.inner] : w->words[0];
	return way_to(w, name, err);
}

/* A word that execvp does not start. */
static const char *why_no_program(const char *word)
{
	if (access(word, F_OK))
		return "no such program";
	if (strchr(word, '/') || !is_executable(word))
		return "is no program that may be run; give the one that runs it, too";
	return "is not in PATH; for the file here put ./ before its name";
}

int program_find(struct program *out, char *const *argv, struct jprof_error *err)
{
	struct way w = { .path = program_in_path(argv[0]), .argv = argv };
	struct program on_way = { 0 };
	*out = on_way;
	if (!w.path || !is_executable(w.path)) {
		int rc = fail_as(err, JPROF_E_IO, argv[0], "%s", why_no_program(argv[0]));
		free(w.path);
		return rc;
	}
	char *first = shortage_note(strdup(w.path));
	int step = first ? 0 : fail_as(err, JPROF_E_NOMEM, "", "memory is short");
	for (int hops = 0; !step && hops < hops_max; hops++)
		step = follow_command(&w, &on_way, err);
	int rc = step < 0 ? step : program_open(out, w.path, err);
	if (!rc) {
		out->user = on_way.user;
		out->sets = on_way.sets;
		out->dropped_by = on_way.dropped_by;
		out->script = on_way.script;
		on_way.script = NULL;
	}
	if (!rc && strcmp(first, w.path)) {
		out->via = first;
		first = NULL;
	}
	free(on_way.script);
	free(first);
	free(w.path);
	return rc;
}

void program_free(struct program *t)
{
	free(t->path);
	free(t->via);
	free(t->script);
	jprof_binary_free(t->binary);
	*t = (struct program){ 0 };
}

bool program_fits(const struct jprof_binary_info *program, const struct jprof_binary_info *library)
{
	return program->bits == library->bits && program->machine == library->machine &&
	       program->big_endian == library->big_endian &&
	       (!*library->libc || !*program->libc || !strcmp(library->libc, program->libc));
}

void program_describe(const struct jprof_binary_info *info, char *text, size_t size)
{
	static const struct {
		unsigned machine;
		const char *name;
	} names[] = { { EM_X86_64, "x86-64" }, { EM_AARCH64, "aarch64" }, { EM_386, "i386" }, { EM_ARM, "arm" },
		      { EM_RISCV, "riscv" },   { EM_PPC64, "ppc64" },     { EM_S390, "s390" } };
	char other[32];
	const char *name = other;
	snprintf(other, sizeof other, "machine %u", info->machine);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (names[i].machine == info->machine)
			name = names[i].name;
	snprintf(text, size, "%s%s, %s", name, info->machine == EM_X86_64 && info->bits == 32 ? " (x32)" : "",
	         *info->libc ? info->libc : "a C library that is not known");
}

/* What a test of the library answers, called right after errno was 0. */
static bool note_answer(bool answer)
{
	if (!answer && errno == ENOMEM)
		shortage_note_code(JPROF_E_NOMEM);
	return answer;
}

bool binary_defines(const struct jprof_binary *binary, const char *name)
{
	errno = 0;
	return note_answer(jprof_binary_defines(binary, name));
}

bool binary_exports(const struct jprof_binary *binary, const char *name)
{
	errno = 0;
	return note_answer(jprof_binary_exports(binary, name));
}

bool program_is_ruby(const struct program *t)
{
	return !strncmp(t->name, "ruby", 4);
}
