#include "shortmem.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *old);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *old);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t len);
int __wrap_asprintf(char **out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool armed;
static size_t calls, failing, held, peak;

void shortmem_arm(size_t nth)
{
	calls = 0;
	failing = nth;
	armed = true;
}

size_t shortmem_disarm(void)
{
	armed = false;
	return calls;
}

size_t shortmem_held(void)
{
	return held;
}

size_t shortmem_peak(int again)
{
	size_t most = peak;
	if (again)
		peak = held;
	return most;
}

size_t shortmem_step(size_t few)
{
	const char *sweep = getenv("JPROF_SWEEP");
	return sweep && !strcmp(sweep, "whole") ? 1 : few;
}

static bool is_time(void)
{
	bool fails = armed && ++calls == failing;
	errno = fails ? ENOMEM : errno;
	return fails;
}

static void *count(void *got)
{
	held += got ? malloc_usable_size(got) : 0;
	peak = held > peak ? held : peak;
	return got;
}

/* What a library allocated and we free was never counted. */
static void uncount(void *old)
{
	size_t size = old ? malloc_usable_size(old) : 0;
	held -= size < held ? size : held;
}

void *__wrap_malloc(size_t size)
{
	return is_time() ? NULL : count(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return is_time() ? NULL : count(__real_calloc(n, size));
}

void *__wrap_realloc(void *old, size_t size)
{
	if (is_time())
		return NULL;
	size_t before = old ? malloc_usable_size(old) : 0;
	void *grown = __real_realloc(old, size);
	held -= grown ? (before < held ? before : held) : 0;
	return grown ? count(grown) : NULL;
}

void __wrap_free(void *old)
{
	uncount(old);
	__real_free(old);
}

char *__wrap_strdup(const char *s)
{
	return __wrap_strndup(s, SIZE_MAX);
}

char *__wrap_strndup(const char *s, size_t len)
{
	size_t n = strnlen(s, len);
	char *copy = __wrap_malloc(n + 1);
	if (copy) {
		memcpy(copy, s, n);
		copy[n] = '\0';
	}
	return copy;
}

int __wrap_asprintf(char **out, const char *fmt, ...)
{
	if (is_time())
		return -1;
	va_list args;
	va_start(args, fmt);
	int n = vasprintf(out, fmt, args);
	va_end(args);
	if (n >= 0)
		count(*out);
	return n;
}
