/* Blocks of these sizes, among them what Ruby keeps of a thread, lie on a page of their own, which is never given
 * again: who touches one that was freed dies. Other blocks are those of the next allocator. To be preloaded before
 * that. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LEAST = 257, MOST = 4080, HEAD = 16, PAGE = 4096, EARLY = 65536, EARLY_BLOCK = 1024 };
static const size_t room = 1ul << 33;
static char *fenced_pages, *next_page;
static char early[EARLY]; /* for dlsym, while it finds the next allocator */
static size_t early_used;
static void *(*next_malloc)(size_t), *(*next_calloc)(size_t, size_t), *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);
static size_t (*next_usable_size)(void *);

static void find_next(void)
{
	static bool finding;
	if (finding || next_malloc)
		return;
	finding = true;
	*(void **)&next_calloc = dlsym(RTLD_NEXT, "calloc");
	*(void **)&next_realloc = dlsym(RTLD_NEXT, "realloc");
	*(void **)&next_free = dlsym(RTLD_NEXT, "free");
	*(void **)&next_usable_size = dlsym(RTLD_NEXT, "malloc_usable_size");
	fenced_pages = next_page = mmap(NULL, room, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (fenced_pages == MAP_FAILED)
		abort();
	*(void **)&next_malloc = dlsym(RTLD_NEXT, "malloc");
}

static bool is_within(const void *p, const char *start, size_t size)
{
	return (uintptr_t)p - (uintptr_t)start < size;
}

static bool is_fenced(const void *p)
{
	return fenced_pages && is_within(p, fenced_pages, room);
}

static void *take_early(void)
{
	early_used += EARLY_BLOCK;
	return early_used <= EARLY ? early + early_used - EARLY_BLOCK : NULL;
}

/* The page behind each stays shut. */
static void *take_fenced(size_t size)
{
	char *page = __atomic_fetch_add(&next_page, 2 * PAGE, __ATOMIC_SEQ_CST);
	if (!is_fenced(page) || mprotect(page, PAGE, PROT_READ | PROT_WRITE) != 0)
		abort();
	memcpy(page, &size, sizeof size);
	return page + HEAD;
}

static size_t size_of(const void *p)
{
	size_t size;
	if (!is_fenced(p))
		return EARLY_BLOCK;
	memcpy(&size, (const char *)p - HEAD, sizeof size);
	return size;
}

void *malloc(size_t size)
{
	find_next();
	if (!next_malloc)
		return take_early();
	return size >= LEAST && size <= MOST ? take_fenced(size) : next_malloc(size);
}

void *calloc(size_t count, size_t size)
{
	find_next();
	if (!next_malloc)
		return take_early();
	bool small = count < MOST && size < MOST && count * size >= LEAST && count * size <= MOST;
	return small ? take_fenced(count * size) : next_calloc(count, size);
}

void free(void *p)
{
	if (is_fenced(p)) {
		madvise((char *)p - HEAD, PAGE, MADV_DONTNEED);
		mprotect((char *)p - HEAD, PAGE, PROT_NONE);
	} else if (p && !is_within(p, early, EARLY)) {
		next_free(p);
	}
}

void *realloc(void *p, size_t size)
{
	if (!p)
		return malloc(size);
	if (!is_fenced(p) && !is_within(p, early, EARLY))
		return next_realloc(p, size);
	size_t old = size_of(p);
	void *moved = malloc(size);
	if (!moved)
		return NULL;
	memcpy(moved, p, old < size ? old : size);
	free(p);
	return moved;
}

size_t malloc_usable_size(void *p)
{
	bool is_here = is_fenced(p) || is_within(p, early, EARLY);
	return !p ? 0 : is_here ? size_of(p) : next_usable_size(p);
}
