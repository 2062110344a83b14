#include "ruby/stacktree.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "self.h"
#include "synthetic.h"

enum {
	NODES = SYNTHETIC_TAGS - SYNTHETIC_NODES,
	SPARE = NODES / 8,
	TREE_BUCKETS = NODES,
	SCRATCH = 256 << 10,
	ALL = 16 << 20,
	TREE_TRIES = 100,
	GONE = 3,             /* of is_used: to be freed */
	TREE_APART_MS = 3000, /* a sample may be on its way into jemalloc for as long as its thread gets no processor */
};

struct node {
	uint32_t parent;
	struct stacktree_frame frame;
	uint32_t next;    /* in its bucket, or of those that are free */
	uint32_t stamp;   /* the generation in which it was last found */
	uint32_t is_used; /* by the dump that is read: 1, 2 once it was visited */
};

_Static_assert(sizeof(struct node) == 36, "see the sum");
_Static_assert(NODES * sizeof(struct node) + TREE_BUCKETS * sizeof(uint32_t) + SCRATCH < ALL - (4 << 20),
               "room for texts");

static struct node *nodes; /* NULL: none */
static uint32_t *buckets;
static char *scratch;
static uint32_t next_fresh, next_freed, count;
static atomic_uint tree_generation;
static atomic_flag tree_lock = ATOMIC_FLAG_INIT;
static bool fork_has_lock;
static uint64_t last_stock;     /* by self_clock() */
static uint32_t previous_stock; /* its generation */
static bool takes_stock;

int stacktree_init(void)
{
	char *memory = mmap(NULL, ALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return errno;
	nodes = (void *)memory;
	buckets = (void *)(nodes + NODES);
	scratch = (char *)(buckets + TREE_BUCKETS);
	texts_init(scratch + SCRATCH, (size_t)(memory + ALL - scratch - SCRATCH));
	next_fresh = 1;
	for (enum stacktree_marker marker = STACKTREE_AFTER_GC; marker < STACKTREE_CUT; marker++)
		stacktree_mark(0, marker, 0);
	return 0;
}

size_t stacktree_resident(void)
{
	static unsigned char pages[ALL / 4096]; /* pages have 4 KiB at least */
	size_t size = (size_t)sysconf(_SC_PAGESIZE), count = 0;
	if (!nodes || mincore(nodes, ALL, pages))
		return 0;
	for (size_t i = 0; i < ALL / size; i++)
		count += pages[i] & 1;
	return count * size;
}

void *stacktree_scratch(size_t *size)
{
	*size = SCRATCH;
	return scratch;
}

bool stacktree_try_lock(void)
{
	for (int i = 0; nodes && i < TREE_TRIES; i++) {
		if (!atomic_flag_test_and_set_explicit(&tree_lock, memory_order_acquire))
			return true;
		if (i % 8 == 7)
			sched_yield();
	}
	return false;
}

void stacktree_unlock(void)
{
	atomic_flag_clear_explicit(&tree_lock, memory_order_release);
}

/* Who is at it has no reason to wait; but a fork from a signal handler may have interrupted it. */
void stacktree_fork(void)
{
	uint64_t end = self_clock() + 2000;
	fork_has_lock = !nodes;
	while (!fork_has_lock && self_clock() < end)
		fork_has_lock = stacktree_try_lock();
}

void stacktree_forked_parent(void)
{
	if (fork_has_lock && nodes)
		stacktree_unlock();
}

/* A child that was forked in the middle of it has no stacks. */
void stacktree_forked_child(void)
{
	stacktree_forked_parent();
	if (!fork_has_lock)
		nodes = NULL;
	for (uint32_t node = 1; nodes && takes_stock && node < next_fresh; node++)
		nodes[node].is_used = false;
	takes_stock = false;
}

static uint32_t *bucket_of(uint32_t parent, const struct stacktree_frame *frame)
{
	const uint64_t k = 0x9e3779b97f4a7c15u;
	uint64_t h = parent;
	h = (h ^ frame->path) * k;
	h = (h ^ h >> 32 ^ frame->class) * k;
	h = (h ^ h >> 32 ^ frame->method) * k;
	h = (h ^ h >> 32 ^ frame->line ^ (uint64_t)frame->kind << 32) * k;
	return &buckets[(h >> 40) % TREE_BUCKETS];
}

static uint32_t take_node(bool last)
{
	uint32_t node = next_freed;
	if (count >= (last ? NODES - 1 : NODES - SPARE))
		return 0;
	if (node)
		next_freed = nodes[node].next;
	else
		node = next_fresh++;
	count++;
	return node;
}

static void release_texts(const struct stacktree_frame *frame)
{
	texts_release(frame->path);
	texts_release(frame->class);
	if (frame->kind != STACKTREE_MARKER)
		texts_release(frame->method);
}

bool stacktree_has(uint32_t node, uint32_t parent, const struct stacktree_frame *frame)
{
	return nodes[node].parent == parent && memcmp(&nodes[node].frame, frame, sizeof *frame) == 0;
}

struct stacktree_frame stacktree_frame_of(uint32_t node)
{
	return nodes[node].frame;
}

uint32_t stacktree_node(uint32_t parent, const struct stacktree_frame *frame, bool last)
{
	uint32_t *bucket = bucket_of(parent, frame), now = atomic_load_explicit(&tree_generation, memory_order_relaxed);
	uint32_t node = *bucket;
	while (node && !stacktree_has(node, parent, frame))
		node = nodes[node].next;
	if (node) {
		release_texts(frame);
		nodes[node].stamp = now;
		return node;
	}
	node = take_node(last);
	if (!node) {
		release_texts(frame);
		return 0;
	}
	nodes[node] = (struct node){ parent, *frame, *bucket, now, 0 };
	*bucket = node;
	return node;
}

bool stacktree_is(uint32_t node, uint32_t parent, const struct stacktree_frame *frame, const struct text_span texts[3])
{
	const struct stacktree_frame *known = &nodes[node].frame;
	return nodes[node].parent == parent && known->line == frame->line && known->kind == frame->kind &&
	       texts_equal(known->path, texts[0]) && texts_equal(known->class, texts[1]) &&
	       texts_equal(known->method, texts[2]);
}

uint32_t stacktree_mark(uint32_t parent, enum stacktree_marker marker, uint32_t count)
{
	const struct stacktree_frame frame = { .method = marker, .line = count, .kind = STACKTREE_MARKER };
	return stacktree_node(parent, &frame, true);
}

uint32_t stacktree_generation(void)
{
	return atomic_load_explicit(&tree_generation, memory_order_relaxed);
}

/* ---- stock ---- */

void stacktree_stock_begin(void)
{
	takes_stock = true;
	atomic_fetch_add(&tree_generation, 1);
}

bool stacktree_stock_use(uint32_t node)
{
	if (!nodes || !node || node >= NODES || !nodes[node].frame.kind)
		return false;
	for (; node && !nodes[node].is_used; node = nodes[node].parent)
		nodes[node].is_used = true;
	return true;
}

/* Once for each, by taking the mark away: 1 is in use, 2 is done. */
static void visit(uint32_t node, void (*each)(uint32_t, uint32_t, const struct stacktree_frame *, void *), void *arg)
{
	uint32_t path[512];
	size_t depth = 0;
	for (; node && nodes[node].is_used == 1 && depth < sizeof path / sizeof *path; node = nodes[node].parent)
		path[depth++] = node;
	while (depth-- > 0) {
		nodes[path[depth]].is_used = 2;
		each(path[depth], nodes[path[depth]].parent, &nodes[path[depth]].frame, arg);
	}
}

void stacktree_each_used(void (*each)(uint32_t, uint32_t, const struct stacktree_frame *, void *), void *arg)
{
	for (uint32_t node = 1; nodes && node < next_fresh; node++)
		visit(node, each, arg);
}

static void free_node(uint32_t *link)
{
	uint32_t node = *link;
	*link = nodes[node].next;
	release_texts(&nodes[node].frame);
	nodes[node] = (struct node){ .next = next_freed };
	next_freed = node;
	count--;
}

/* What was not found since before the stock before this one, and is not in the dump, no sample has: nor one that was on
 * its way into jemalloc when that stock was taken. */
static bool is_gone(uint32_t node)
{
	return nodes[node].stamp < previous_stock && node >= STACKTREE_CUT;
}

/* Takes the marks away, without the lock: others only put nodes in front. Is there something to free? */
static bool find_gone(uint32_t bucket)
{
	bool any = false;
	for (uint32_t node = buckets[bucket]; node; node = nodes[node].next) {
		bool gone = !nodes[node].is_used && is_gone(node);
		nodes[node].is_used = gone ? GONE : 0;
		any |= gone;
	}
	return any;
}

static void free_gone(uint32_t bucket)
{
	for (uint32_t *link = &buckets[bucket]; *link;) {
		struct node *node = &nodes[*link];
		bool gone = node->is_used == GONE && is_gone(*link);
		node->is_used = 0;
		if (gone)
			free_node(link);
		else
			link = &node->next;
	}
}

/* What another thread has the lock for stays until the next time: nobody waits here, for a dump's hook is under a lock
 * of jemalloc's, which a fork that has this one may wait for. */
static void clear_bucket(uint32_t bucket, bool may_free)
{
	if (!find_gone(bucket))
		return;
	bool locked = may_free && stacktree_try_lock();
	if (locked) {
		free_gone(bucket);
		stacktree_unlock();
		return;
	}
	for (uint32_t node = buckets[bucket]; node; node = nodes[node].next)
		nodes[node].is_used = 0;
}

void stacktree_stock_end(bool whole)
{
	uint64_t now = self_clock();
	bool counts = whole && now - last_stock >= TREE_APART_MS;
	for (uint32_t i = 0; nodes && i < TREE_BUCKETS; i++)
		clear_bucket(i, counts);
	if (counts) {
		last_stock = now;
		previous_stock = stacktree_generation();
	}
	atomic_fetch_add(&tree_generation, 1);
	takes_stock = false;
}
