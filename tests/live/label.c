/* A second owner of jemalloc's hook for stacks, as any program may have one: label_on() takes it from the agent, and
 * calls that. It adds an address of its own, LABELS + 16 * what label_set() was given last, unless that is 0: a truth
 * from outside the agent. label_dump() is the program's own dump. */
#include <stddef.h>
#include <stdint.h>

typedef void backtrace_fn(void **frames, unsigned *len, unsigned max);
extern int mallctl(const char *name, void *old, size_t *old_len, void *new, size_t new_len);

enum { LABELS = 0x10000000 };

static backtrace_fn *before;
static __thread unsigned label;

static void on_stack(void **frames, unsigned *len, unsigned max)
{
	before(frames, len, max - 1);
	if (label)
		frames[(*len)++] = (void *)(uintptr_t)(LABELS + 16 * label + 1);
}

int label_on(void)
{
	backtrace_fn *hook = on_stack;
	size_t size = sizeof before;
	return mallctl("experimental.hooks.prof_backtrace", &before, &size, &hook, sizeof hook);
}

void label_set(unsigned l)
{
	label = l;
}

int label_dump(const char *path)
{
	return mallctl("prof.dump", NULL, NULL, &path, sizeof path);
}
