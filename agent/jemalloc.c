#include "jemalloc.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#include "textbuf.h"

typedef int mallctl_fn(const char *name, void *old, size_t *old_len, void *new, size_t new_len);
typedef void stats_fn(void (*write)(void *, const char *), void *arg, const char *opts);

extern mallctl_fn mallctl __attribute__((weak));
extern mallctl_fn je_mallctl __attribute__((weak));
extern mallctl_fn _rjem_mallctl __attribute__((weak));
extern stats_fn malloc_stats_print __attribute__((weak));
extern stats_fn je_malloc_stats_print __attribute__((weak));
extern stats_fn _rjem_malloc_stats_print __attribute__((weak));

static mallctl_fn *control(void)
{
	return mallctl ? mallctl : je_mallctl ? je_mallctl : _rjem_mallctl;
}

static stats_fn *stats_print(void)
{
	return mallctl ? malloc_stats_print : je_mallctl ? je_malloc_stats_print : _rjem_malloc_stats_print;
}

bool jemalloc_present(void)
{
	return control() != NULL;
}

static bool get(const char *name, void *value, size_t size)
{
	size_t len = size;
	return control() && control()(name, value, &len, NULL, 0) == 0 && len == size;
}

bool jemalloc_bool(const char *name)
{
	bool value;
	return get(name, &value, sizeof value) && value;
}

size_t jemalloc_size(const char *name)
{
	size_t value;
	return get(name, &value, sizeof value) ? value : 0;
}

const char *jemalloc_string(const char *name)
{
	const char *value;
	return get(name, &value, sizeof value) ? value : NULL;
}

/* 4096 stands for all arenas, from jemalloc 5 on. Numbers are those of the last change of the epoch. */
size_t jemalloc_internal(void)
{
	uint64_t epoch = 1;
	control()("epoch", NULL, NULL, &epoch, sizeof epoch);
	size_t internal = jemalloc_size("stats.arenas.4096.internal");
	return internal ? internal : jemalloc_size("stats.metadata");
}

int jemalloc_activate(bool active, bool *was)
{
	size_t len = sizeof *was;
	return control()("prof.active", was, &len, &active, sizeof active);
}

static _Atomic(const char *) dumped_to;

int jemalloc_dump(const char *path)
{
	atomic_store(&dumped_to, path);
	int error = control()("prof.dump", NULL, NULL, &path, sizeof path);
	atomic_store(&dumped_to, NULL);
	return error;
}

bool jemalloc_dumps_here(const char *path)
{
	const char *ours = atomic_load(&dumped_to);
	return ours && strcmp(ours, path) == 0;
}

/* The layout of what experimental.hooks.install takes. */
struct hooks {
	void (*alloc)(void *extra, int type, void *result, uintptr_t raw, uintptr_t args[3]);
	void (*dalloc)(void *extra, int type, void *address, uintptr_t args[3]);
	void (*expand)(void *extra, int type, void *address, size_t old, size_t new, uintptr_t raw, uintptr_t args[4]);
	void *extra;
};

static void (*hooked)(void);

static void on_alloc(void *extra, int type, void *result, uintptr_t raw, uintptr_t args[3])
{
	(void)extra, (void)type, (void)result, (void)raw, (void)args;
	hooked();
}

static bool knows_hooks(void)
{
	const char *version = jemalloc_string("version");
	return version && (strncmp(version, "5.2.", 4) == 0 || strncmp(version, "5.3.0-", 6) == 0);
}

void *jemalloc_hook(void (*hook)(void))
{
	struct hooks hooks = { .alloc = on_alloc };
	void *handle = NULL;
	size_t len = sizeof handle;
	hooked = hook;
	if (!knows_hooks() || control()("experimental.hooks.install", &handle, &len, &hooks, sizeof hooks) != 0)
		return NULL;
	return handle;
}

void jemalloc_unhook(void *handle)
{
	control()("experimental.hooks.remove", NULL, NULL, &handle, sizeof handle);
}

static const char backtrace_name[] = "experimental.hooks.prof_backtrace";
static const char dump_name[] = "experimental.hooks.prof_dump";

backtrace_fn *jemalloc_backtrace(void)
{
	backtrace_fn *now;
	return get(backtrace_name, &now, sizeof now) ? now : NULL;
}

bool jemalloc_set_backtrace(backtrace_fn *hook)
{
	return control()(backtrace_name, NULL, NULL, &hook, sizeof hook) == 0;
}

bool jemalloc_unwinds_alike(backtrace_fn *hook)
{
	Dl_info ours, theirs;
	return jemalloc_bool("config.prof_libgcc") && dladdr((void *)(uintptr_t)control(), &ours) &&
	       dladdr((void *)(uintptr_t)hook, &theirs) && ours.dli_fbase == theirs.dli_fbase;
}

bool jemalloc_hook_dumps(dump_fn *hook, dump_fn **before)
{
	size_t len = sizeof *before;
	return control()(dump_name, before, &len, &hook, sizeof hook) == 0;
}

/* jemalloc breaks its lines, and indents them; inside its strings there are no such characters. */
static void add_stats(void *arg, const char *s)
{
	while (*s) {
		size_t blank = strspn(s, "\n\t");
		s += blank;
		size_t len = strcspn(s, "\n\t");
		textbuf_add(arg, s, len);
		s += len;
	}
}

/* Do the braces and strings of what was added come to an end? Versions have been wrong. */
static bool is_object(const char *s, const char *end)
{
	int depth = 0;
	bool quoted = false;
	if (s == end || *s != '{')
		return false;
	for (; s < end; s++) {
		if (quoted && *s == '\\')
			s++;
		else if (*s == '"')
			quoted = !quoted;
		else if (!quoted && (*s == '{' || *s == '['))
			depth++;
		else if (!quoted && (*s == '}' || *s == ']') && --depth == 0)
			return s + 1 == end;
	}
	return false;
}

void jemalloc_stats(struct textbuf *text)
{
	size_t start = text->len;
	if (stats_print())
		stats_print()(add_stats, text, "J");
	if (text->failed || is_object(text->data + start, text->data + text->len))
		return;
	text->len = start;
	textbuf_str(text, "null");
}
