#include "epoch.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#include "self.h"
#include "synthetic.h"

enum { KEPT = 16384, EPOCHS = SYNTHETIC_END - SYNTHETIC_EPOCHS };

/* A process's first epoch is a tenth as long, if that is not too short: so what it makes at its start stays apart. */
enum { FIRST_PART = 10, FIRST_MS = 10000 };

/* The epochs whose times are known, ascending; the last is the running one. */
static struct span {
	uint32_t epoch;
	uint32_t is_used;
	uint64_t begin, end; /* by self_clock() */
} * spans;

static atomic_uint span_count;
static uint64_t length;
static uint64_t since_1970; /* what is added to self_clock() */
static atomic_uint running;
static atomic_bool is_sampled; /* the running one is */
static _Atomic uint64_t due;
static uint64_t start_over; /* the first epoch is, unless a dump closes it */
static struct epoch_start began_at = { .first = 1 };
static atomic_flag closing = ATOMIC_FLAG_INIT;

static uint64_t wall_clock(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static void start_at(uint64_t now)
{
	uint64_t part = length / FIRST_PART > FIRST_MS ? length / FIRST_PART : FIRST_MS;
	began_at.time = now;
	start_over = now + (part < length ? part : length);
	atomic_store(&due, start_over);
}

int epoch_init(unsigned seconds)
{
	since_1970 = wall_clock() - self_clock();
	if (!seconds)
		return 0;
	void *memory = mmap(NULL, KEPT * sizeof *spans, PROT_READ | PROT_WRITE,
	                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return errno;
	spans = memory;
	length = seconds * 1000ull;
	spans[0] = (struct span){ .epoch = 1, .begin = self_clock() };
	span_count = 1;
	atomic_store(&running, 1);
	start_at(spans[0].begin);
	return 0;
}

bool epoch_is_on(void)
{
	return spans != NULL;
}

uint64_t epoch_clock(void)
{
	return self_clock() + since_1970;
}

/* Without samples it only begins anew. With no more room, or numbers, it runs for ever. */
static void close_running(uint64_t now)
{
	struct span *last = &spans[span_count - 1];
	if (!atomic_exchange(&is_sampled, false)) {
		last->begin = now;
	} else if (span_count < KEPT && last->epoch + 1 < EPOCHS) {
		last->end = now;
		last[1] = (struct span){ .epoch = last->epoch + 1, .begin = now };
		span_count++;
		atomic_store(&running, last[1].epoch);
	}
	atomic_store(&due, now < start_over ? start_over : now + length);
}

/* Who is at it closes it now. */
static uint32_t try_close(uint64_t now)
{
	if (!atomic_flag_test_and_set(&closing)) {
		close_running(now);
		atomic_flag_clear(&closing);
	}
	return atomic_load(&running);
}

uint32_t epoch_now(void)
{
	uint64_t now = self_clock();
	uint32_t epoch = now < atomic_load_explicit(&due, memory_order_relaxed)
	                     ? atomic_load_explicit(&running, memory_order_relaxed)
	                     : try_close(now);
	if (!atomic_load_explicit(&is_sampled, memory_order_relaxed))
		atomic_store(&is_sampled, true);
	return epoch;
}

uint32_t epoch_close(void)
{
	return spans ? try_close(self_clock()) : 0;
}

/* Of spans that were being moved down each stays once. */
static void keep_ascending(void)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; spans && i < span_count; i++) {
		while (kept && spans[kept - 1].epoch >= spans[i].epoch)
			kept--;
		spans[kept++] = spans[i];
	}
	span_count = kept;
}

/* What the parent had stays in epochs of its own. */
void epoch_forked(void)
{
	uint64_t now = self_clock();
	if (atomic_flag_test_and_set(&closing)) { /* a thread of the parent was at it, and may have come halfway */
		atomic_store(&is_sampled, true);
		keep_ascending();
	}
	atomic_flag_clear(&closing);
	if (!spans)
		return;
	close_running(now);
	began_at.first = atomic_load(&running);
	began_at.forks++;
	start_at(now);
}

struct epoch_start epoch_start(void)
{
	struct epoch_start copy = began_at;
	copy.time += since_1970;
	return copy;
}

static struct span *find_epoch(uint32_t epoch)
{
	uint32_t low = 0, high = span_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (spans[middle].epoch < epoch)
			low = middle + 1;
		else
			high = middle;
	}
	return low < span_count && spans[low].epoch == epoch ? &spans[low] : NULL;
}

void epoch_use(uint32_t epoch)
{
	struct span *span = spans ? find_epoch(epoch) : NULL;
	if (span)
		span->is_used = true;
}

static void forget_unused(void)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < span_count; i++) {
		bool stays = spans[i].is_used || i + 2 >= span_count;
		spans[i].is_used = false;
		if (stays)
			spans[kept++] = spans[i];
	}
	span_count = kept;
}

void epoch_each_used(void (*each)(uint32_t, uint64_t, uint64_t, void *), void *arg)
{
	while (spans && atomic_flag_test_and_set(&closing))
		sched_yield();
	for (uint32_t i = 0; spans && i < span_count; i++) {
		uint64_t end = spans[i].end ? spans[i].end + since_1970 : 0;
		if (spans[i].is_used)
			each(spans[i].epoch, spans[i].begin + since_1970, end, arg);
	}
	if (spans)
		forget_unused();
	atomic_flag_clear(&closing);
}
