#include "run/program.h"

#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/names.h"

enum { hops_max = 6, line_max = 256 };

static int fail_to_run(struct jprof_error *err, int code, const char *path, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static int fail_to_run(struct jprof_error *err, int code, const char *path, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	*err = (struct jprof_error){ .code = code };
	snprintf(err->path, sizeof err->path, "%s", path);
	vsnprintf(err->text, sizeof err->text, fmt, args);
	va_end(args);
	return code;
}

/* Of "env -S -i A=1 ruby": "ruby". NULL if there is none. */
static char *env_program(char *const *argv)
{
	for (int i = 1; argv[i]; i++) {
		if (!strcmp(argv[i], "-u") || !strcmp(argv[i], "--unset") || !strcmp(argv[i], "-C"))
			i += argv[i + 1] != NULL;
		else if (*argv[i] != '-' && !strchr(argv[i], '='))
			return argv[i];
	}
	return NULL;
}

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

static bool is_secure(const char *path)
{
	struct stat st;
	char caps[64];
	return (!stat(path, &st) && st.st_mode & (S_ISUID | S_ISGID)) ||
	       getxattr(path, "security.capability", caps, sizeof caps) > 0;
}

/* Programs whose business is to start another one. */
static bool is_launcher(const char *name)
{
	static const char *const names[] = { "sh",        "ash",       "bash",   "dash",      "ksh",     "zsh",
		                             "busybox",   "env",       "nice",   "ionice",    "timeout", "nohup",
		                             "setsid",    "stdbuf",    "tini",   "dumb-init", "gosu",    "su-exec",
		                             "setpriv",   "chpst",     "chroot", "unshare",   "nsenter", "strace",
		                             "catatonit", "s6-svscan", "runsv",  "sudo" };
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* The same place as seen from anywhere; links stay, for a name may be all that tells one program from another. */
static char *absolute(const char *path)
{
	char *cwd = *path == '/' ? NULL : getcwd(NULL, 0), *text = NULL;
	while (!strncmp(path, "./", 2))
		path += 2;
	if (!cwd)
		return strdup(path);
	if (asprintf(&text, "%s/%s", cwd, path) < 0)
		text = NULL;
	free(cwd);
	return text;
}

int program_open(struct program *t, const char *path, struct jprof_error *err)
{
	*t = (struct program){ .path = absolute(path) };
	if (!t->path)
		return fail_to_run(err, JPROF_E_NOMEM, "", "memory is short");
	int rc = jprof_binary_open(NULL, path, &t->binary, err);
	if (rc) {
		program_free(t);
		return rc;
	}
	t->name = base_name(t->path);
	t->secure = is_secure(path);
	t->may_be = is_launcher(t->name);
	return 0;
}

/* One step from *path to what it starts: 1 done, 0 go on, below 0 an error. */
static int follow_command(char **path, char *const *argv, struct jprof_error *err)
{
	char line[line_max], *words[16], *next;
	bool env = !strcmp(base_name(*path), "env") && argv && env_program(argv);
	if (env)
		next = env_program(argv);
	else if (!script_words(*path, line, words, sizeof words / sizeof *words))
		return 1;
	else
		next = !strcmp(base_name(words[0]), "env") && env_program(words) ? env_program(words) : words[0];
	char *found = program_in_path(next);
	if (!found)
		return fail_to_run(err, JPROF_E_IO, *path, "starts %s, which is not in PATH", next);
	free(*path);
	*path = found;
	return 0;
}

int program_find(struct program *t, char *const *argv, struct jprof_error *err)
{
	char *path = program_in_path(argv[0]);
	if (!path || !is_executable(path)) {
		int rc = fail_to_run(err, JPROF_E_IO, argv[0], "%s",
		                     path && !access(path, F_OK) ? "is no program that may be run" : "no such program");
		free(path);
		return rc;
	}
	char *first = strdup(path);
	int step = first ? 0 : fail_to_run(err, JPROF_E_NOMEM, "", "memory is short");
	for (int hops = 0; !step && hops < hops_max; hops++)
		step = follow_command(&path, hops ? NULL : argv, err);
	int rc = step < 0 ? step : program_open(t, path, err);
	if (!rc && strcmp(first, path)) {
		t->via = first;
		first = NULL;
	}
	free(first);
	free(path);
	return rc;
}

void program_free(struct program *t)
{
	free(t->path);
	free(t->via);
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

bool program_is_ruby(const struct program *t)
{
	return !strncmp(t->name, "ruby", 4);
}
