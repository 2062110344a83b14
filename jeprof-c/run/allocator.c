#include "run/allocator.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/names.h"
#include "cli/shortage.h"
#include "cli/trust.h"
#include "run/child.h"

enum { search_seconds = 20 };

const char *preload_next(const char **text, size_t *len)
{
	static const char separators[] = ": \t\n";
	const char *start = *text + strspn(*text, separators);
	*len = strcspn(start, separators);
	*text = start + *len;
	return start;
}

bool is_jemalloc(const char *path)
{
	struct jprof_binary *b;
	if (strstr(jp_basename(path), "jemalloc"))
		return true;
	if (shortage_note_code(jprof_binary_open(NULL, path, &b, NULL)))
		return false;
	bool is = binary_defines(b, "mallctl") && binary_defines(b, "malloc");
	jprof_binary_free(b);
	return is;
}

/* ---- what the program is linked with ------------------------------------------------------------- */

/* Of "\tlibjemalloc.so.2 => /usr/lib/libjemalloc.so.2 (0x7f..)": the path. */
static char *listed(const char *line, const char *name)
{
	line += strspn(line, " \t");
	const char *arrow = strstr(line, " => /");
	if (strncmp(jp_basename(line), name, strlen(name)) && strncmp(line, name, strlen(name)))
		return NULL;
	const char *path = arrow ? arrow + 4 : line;
	return *path == '/' ? shortage_note(strndup(path, strcspn(path, " \n"))) : NULL;
}

/* The loader, if it is the system's: a program can name any. */
static char *loader_of(const struct program *target)
{
	const char *loader = jprof_binary_info(target->binary)->interpreter;
	return *loader ? trusted_path(loader) : NULL;
}

static char *preload_variable(const char *name, const char *value)
{
	char *text;
	return shortage_unprinted(asprintf(&text, "%s=%s", name, value ? value : "")) ? NULL : text;
}

/* The first line of the loader's list that names such a library. */
static char *listed_by(char *loader, char *program, const char *name, char *const *env)
{
	char *argv[] = { loader, "--list", program, NULL }, *text, *rest, *path = NULL;
	int status;
	if (!child_run(argv, env, STDOUT_FILENO, search_seconds, &text, &status))
		return NULL;
	for (char *line = strtok_r(text, "\n", &rest); line && !path; line = strtok_r(NULL, "\n", &rest))
		path = listed(line, name);
	free(text);
	return path;
}

char *linked_library(const struct program *target, const char *name, const char *preload)
{
	char *loader = loader_of(target), *path = NULL;
	char *env[] = { preload_variable("LD_LIBRARY_PATH", getenv("LD_LIBRARY_PATH")),
		        preload_variable("LD_PRELOAD", preload), NULL };
	if (loader && env[0] && env[1])
		path = listed_by(loader, target->path, name, env);
	free(env[0]);
	free(env[1]);
	free(loader);
	return path;
}

bool is_for_loader(const char *entry)
{
	return !strchr(entry, '/') || strchr(entry, '$');
}

char *preload_path(const struct program *target, const char *entry, size_t len)
{
	char *name = shortage_note(strndup(entry, len)), *path;
	if (!name || !is_for_loader(name))
		return name;
	path = linked_library(target, jp_basename(name), name);
	free(name);
	return path;
}

/* ---- candidates --------------------------------------------------------------------------------------- */

struct allocator_search {
	struct allocator *found;
	const struct program *target;
	struct jp_strbuf tried;
	enum proved *proved; /* where the last one's proof is noted, or NULL */
	bool failed;
};

static void reject(struct allocator_search *s, const char *path, const char *reason)
{
	jp_strbuf_printf(&s->tried, "%s%s: %s", s->tried.len ? "; " : "", path, reason);
}

static const char *why_not_jemalloc(const struct proof *proof)
{
	switch (proof->proved) {
	case PROVED_NO_PROFILES: return "a jemalloc built without profiling (no --enable-prof)";
	case PROVED_NO_JEMALLOC: return "is no jemalloc: it reads no MALLOC_CONF";
	case PROVED_BROKEN: return *proof->said ? proof->said : "the program that it was tried in did not end well";
	case PROVED_NOTHING: return "no program here to try it in";
	case PROVED_PROFILES: break;
	}
	return "";
}

/* Whether it fits the program, by its headers; before anything is run. */
static bool library_fits(struct allocator_search *s, const char *path)
{
	struct jprof_binary *b;
	struct jprof_error err;
	char is[64], need[64], text[192];
	if (shortage_note_code(jprof_binary_open(NULL, path, &b, &err))) {
		reject(s, path, err.text);
		return false;
	}
	bool good = program_fits(jprof_binary_info(s->target->binary), jprof_binary_info(b));
	program_describe(jprof_binary_info(b), is, sizeof is);
	program_describe(jprof_binary_info(s->target->binary), need, sizeof need);
	jprof_binary_free(b);
	snprintf(text, sizeof text, "is for %s; %s is for %s", is, s->target->name, need);
	if (!good)
		reject(s, path, text);
	return good;
}

/* To prove it is to run its code, and nobody has asked for this file. */
static bool is_trusted(struct allocator_search *s, const char *path)
{
	char *trusted = trusted_path(path);
	bool good = trusted != NULL;
	free(trusted);
	if (!good)
		reject(s, path, "others may write it, so it is not tried unless --jemalloc names it");
	return good;
}

/* Takes the library if it profiles. */
static bool consider_library(struct allocator_search *s, const char *path, enum allocator_from from)
{
	struct proof proof;
	if (s->found->path || s->failed || (from == ALLOCATOR_FOUND && !is_trusted(s, path)) || !library_fits(s, path))
		return false;
	if (strpbrk(path, ": \t\n")) {
		reject(s, path, "LD_PRELOAD cannot name it, for its path has a blank or colon; move it");
		return false;
	}
	if (!prove(&proof, path, s->target, NULL) || !(s->found->path = shortage_note(strdup(path)))) {
		proof_free(&proof);
		s->failed = true;
		return false;
	}
	s->found->from = from;
	s->found->proof = proof;
	if (s->proved)
		*s->proved = proof.proved;
	if (proof.proved == PROVED_PROFILES)
		return true;
	char *line = shortage_note(strndup(why_not_jemalloc(&proof), strcspn(why_not_jemalloc(&proof), "\n")));
	reject(s, path, line ? line : "");
	free(line);
	proof_free(&s->found->proof);
	free(s->found->path);
	s->found->path = NULL;
	return false;
}

static int is_no_dotfile(const struct dirent *entry)
{
	return *entry->d_name != '.';
}

/* A file below each directory of `dir`, in the order of their names. Why `dir` cannot be read is told. */
static void consider_each(struct allocator_search *s, const char *dir, const char *file)
{
	struct dirent **entries;
	char path[512];
	int count = scandir(dir, &entries, is_no_dotfile, alphasort);
	if (count < 0) {
		if (errno == ENOMEM)
			shortage_note_code(JPROF_E_NOMEM);
		if (errno != ENOENT && errno != ENOTDIR)
			reject(s, dir, strerror(errno));
		return;
	}
	for (int i = 0; i < count; i++) {
		snprintf(path, sizeof path, "%s/%s/%s", dir, entries[i]->d_name, file);
		free(entries[i]);
		if (!access(path, F_OK))
			consider_library(s, path, ALLOCATOR_FOUND);
	}
	free(entries);
}

/* Wherever Debian, Alpine, and those who build their own put it. */
static void consider_places(struct allocator_search *s)
{
	static const struct {
		const char *dir, *file;
		bool each; /* in each directory of `dir`, not in itself */
	} places[] = {
		{ "/usr/local/lib", "libjemalloc.so.2", false }, { "/usr/local/lib", "libjemalloc.so.2", true },
		{ "/usr/lib", "libjemalloc.so.2", true },        { "/usr/lib", "libjemalloc.so.2", false },
		{ "/usr/lib64", "libjemalloc.so.2", false },     { "/opt", "lib/libjemalloc.so.2", true },
		{ "/usr/local/lib", "libjemalloc.so", false },   { "/usr/lib", "libjemalloc.so.1", true },
	};
	char path[512];
	for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
		snprintf(path, sizeof path, "%s/%s", places[i].dir, places[i].file);
		if (places[i].each)
			consider_each(s, places[i].dir, places[i].file);
		else if (!access(path, F_OK))
			consider_library(s, path, ALLOCATOR_FOUND);
	}
}

/* "libjemalloc.so.2 (libc6,x86-64) => /opt/x/libjemalloc.so.2": a line of ldconfig -p. */
static void consider_cache(struct allocator_search *s)
{
	static const char *const tools[] = { "/sbin/ldconfig", "/usr/sbin/ldconfig" };
	char *text = NULL, *rest, *env[] = { NULL };
	int status;
	for (size_t i = 0; i < sizeof tools / sizeof *tools && !text && !s->found->path; i++) {
		char *argv[] = { (char *)tools[i], "-p", NULL };
		if (access(tools[i], X_OK) || !child_run(argv, env, STDOUT_FILENO, search_seconds, &text, &status))
			text = NULL;
	}
	for (char *line = text ? strtok_r(text, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
		char *path = listed(line, "libjemalloc.so");
		if (path && strncmp(path, "/usr/lib/", 9) && strncmp(path, "/lib/", 5) &&
		    strncmp(path, "/usr/local/lib/", 15))
			consider_library(s, path, ALLOCATOR_FOUND);
		free(path);
	}
	free(text);
}

enum serves { SERVES_NOTHING, SERVES_MALLOC, IS_JEMALLOC };

/* What a file that LD_PRELOAD names is to the program. */
static enum serves what_serves(const struct program *target, const char *path)
{
	struct jprof_binary *b;
	struct jprof_error err;
	if (!path || access(path, R_OK) || shortage_note_code(jprof_binary_open(NULL, path, &b, &err)))
		return SERVES_NOTHING;
	bool fits =
	    program_fits(jprof_binary_info(target->binary), jprof_binary_info(b)); /* the loader would take it */
	bool allocates = binary_exports(b, "malloc");
	jprof_binary_free(b);
	return !fits ? SERVES_NOTHING : is_jemalloc(path) ? IS_JEMALLOC : allocates ? SERVES_MALLOC : SERVES_NOTHING;
}

static char *preloaded_entry(const struct program *target, const char *preload, const char **entry, size_t *len,
                             char **other)
{
	while (preload && (*entry = preload_next(&preload, len)) && *len) {
		char *path = preload_path(target, *entry, *len);
		enum serves serves = what_serves(target, path);
		if (serves == IS_JEMALLOC)
			return path;
		if (serves == SERVES_MALLOC && other) {
			*other = path;
			return NULL;
		}
		free(path);
	}
	return NULL;
}

char *preloaded_jemalloc(const struct program *target, const char *preload, char **other)
{
	const char *entry;
	size_t len;
	return preloaded_entry(target, preload, &entry, &len, other);
}

bool own_jemalloc(const struct jprof_binary *program, struct own_jemalloc *own)
{
	static const struct own_jemalloc kinds[] = { { "", "mallctl", "MALLOC_CONF", false },
		                                     { "_rjem_", "_rjem_mallctl", "_RJEM_MALLOC_CONF", false },
		                                     { "je_", "je_mallctl", "JE_MALLOC_CONF", false } };
	char allocates[32];
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		snprintf(allocates, sizeof allocates, "%smalloc", kinds[i].prefix);
		if (!binary_defines(program, kinds[i].mallctl) || !binary_defines(program, allocates))
			continue;
		*own = kinds[i];
		own->exported = binary_exports(program, own->mallctl);
		return true;
	}
	return false;
}

/* Its own symbols come before those of anything that is preloaded. It cannot be tried without running the program. */
static bool is_inside(struct allocator_search *s)
{
	const struct program *t = s->target;
	struct own_jemalloc own;
	if (!own_jemalloc(t->binary, &own))
		return false;
	s->found->from = ALLOCATOR_LINKED;
	s->found->proof.proved = PROVED_NOTHING;
	s->found->conf_name = own.conf_name;
	s->found->hidden = own.exported ? NULL : own.mallctl;
	s->found->path = shortage_note(strdup(t->path));
	s->failed = !s->found->path;
	return true;
}

/* One that was built without profiling gives way: `entry` of LD_PRELOAD. */
static void consider_preloaded(struct allocator_search *s, const char *path, const char *entry, size_t len)
{
	enum proved proved = PROVED_PROFILES;
	s->proved = &proved;
	bool good = consider_library(s, path, ALLOCATOR_PRELOADED);
	s->proved = NULL;
	if (good || proved != PROVED_NO_PROFILES || s->failed)
		return;
	s->found->gives_way = shortage_note(strndup(entry, len));
	s->failed = !s->found->gives_way;
	consider_places(s);
	consider_cache(s);
}

static void search(struct allocator_search *s, const char *given, const char *preload)
{
	const char *entry;
	size_t len;
	if (is_inside(s))
		return;
	char *linked = given ? NULL : linked_library(s->target, "libjemalloc", NULL), *own = NULL;
	if (given) {
		consider_library(s, given, ALLOCATOR_GIVEN);
	} else if (linked) {
		consider_library(s, linked, ALLOCATOR_LINKED);
	} else if ((own = preloaded_entry(s->target, preload, &entry, &len, NULL))) {
		consider_preloaded(s, own, entry, len);
	} else {
		consider_places(s);
		consider_cache(s);
	}
	free(linked);
	free(own);
}

bool allocator_find(struct allocator *allocator, const struct program *target, const char *given, const char *preload)
{
	*allocator = (struct allocator){ 0 };
	struct allocator_search s = { .found = allocator, .target = target };
	search(&s, given, preload);
	allocator->tried = shortage_take(&s.tried);
	s.failed = s.failed || !allocator->tried;
	if (s.failed)
		allocator_free(allocator);
	return !s.failed;
}

void allocator_free(struct allocator *allocator)
{
	free(allocator->path);
	free(allocator->tried);
	free(allocator->gives_way);
	proof_free(&allocator->proof);
	*allocator = (struct allocator){ 0 };
}
