/* A program with a jemalloc of its own whose functions have a prefix, as Rust's _rjem_: prints as environ.c, and the
 * variable that such a jemalloc reads. It stands for one: only names are looked at. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define TEXT2(a) #a
#define TEXT(a) TEXT2(a)

void *JOIN(PREFIX, malloc)(size_t size);
int JOIN(PREFIX, mallctl)(const char *name, void *old, size_t *len, void *new, size_t new_len);

void *JOIN(PREFIX, malloc)(size_t size)
{
	return malloc(size);
}

int JOIN(PREFIX, mallctl)(const char *name, void *old, size_t *len, void *new, size_t new_len)
{
	(void)name, (void)old, (void)len, (void)new, (void)new_len;
	return 2;
}

static void put(const char *name)
{
	const char *value = getenv(name);
	printf("%s=%s\n", name, value ? value : "(unset)");
}

int main(void)
{
	char name[64] = TEXT(PREFIX) "MALLOC_CONF";
	for (char *p = name; *p; p++)
		*p = (char)toupper((unsigned char)*p);
	put("LD_PRELOAD");
	put("MALLOC_CONF");
	put("JPROF_AGENT");
	put(name);
	return JOIN(PREFIX, mallctl)("", NULL, NULL, NULL, 0) == 2 && JOIN(PREFIX, malloc)(1) ? 7 : 1;
}
