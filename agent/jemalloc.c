#include "jemalloc.h"

#include <errno.h>
#include <string.h>

#include "text.h"

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

int jemalloc_activate(bool active, bool *was)
{
	size_t len = sizeof *was;
	return control()("prof.active", was, &len, &active, sizeof active);
}

int jemalloc_dump(const char *path)
{
	return control()("prof.dump", NULL, NULL, &path, sizeof path);
}

int jemalloc_backtrace_hook(jemalloc_backtrace_fn *hook, jemalloc_backtrace_fn **was)
{
	size_t len = sizeof *was;
	return control()("experimental.hooks.prof_backtrace", was, &len, hook ? &hook : NULL, hook ? sizeof hook : 0);
}

/* jemalloc breaks its lines, and indents them; inside its strings there are no such characters. */
static void add_line(void *arg, const char *s)
{
	while (*s) {
		size_t blank = strspn(s, "\n\t");
		s += blank;
		size_t len = strcspn(s, "\n\t");
		text_add(arg, s, len);
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

void jemalloc_stats(struct text *text)
{
	size_t start = text->len;
	if (stats_print())
		stats_print()(add_line, text, "J");
	if (text->failed || is_object(text->data + start, text->data + text->len))
		return;
	text->len = start;
	text_str(text, "null");
}
