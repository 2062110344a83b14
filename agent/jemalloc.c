#include "jemalloc.h"

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

int jemalloc_dump(const char *path)
{
	return control()("prof.dump", NULL, NULL, &path, sizeof path);
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

typedef void backtrace_fn(void **frames, unsigned *len, unsigned max);

static backtrace_fn *take_backtrace; /* jemalloc's own, or another's */
static void (*hooked_sampled)(void);

/* Where this library lies; the linker sets them. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

static bool is_ours(const void *address)
{
	return (uintptr_t)address - (uintptr_t)__ehdr_start < (uintptr_t)etext - (uintptr_t)__ehdr_start;
}

/* The stack is to be that of a process without the agent: the frame of the hook goes. */
static void on_sampled(void **frames, unsigned *len, unsigned max)
{
	unsigned kept = 0;
	take_backtrace(frames, len, max);
	for (unsigned i = 0; i < *len; i++)
		if (!is_ours(frames[i]))
			frames[kept++] = frames[i];
	*len = kept;
	hooked_sampled();
}

static bool set_backtrace(backtrace_fn *hook)
{
	return control()("experimental.hooks.prof_backtrace", NULL, NULL, &hook, sizeof hook) == 0;
}

void jemalloc_hook_sampled(void (*hook)(void))
{
	static const char name[] = "experimental.hooks.prof_backtrace";
	backtrace_fn *now;
	if (!get(name, &now, sizeof now))
		return;
	if (hook && now != on_sampled) {
		take_backtrace = now;
		hooked_sampled = hook;
		set_backtrace(on_sampled);
	} else if (!hook && now == on_sampled) {
		set_backtrace(take_backtrace);
	}
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
