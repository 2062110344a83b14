#include "ruby/slottable.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include "self.h"

enum { SLOTTABLE_TRIES = 100, SLOTTABLE_PATIENCE_MS = 2000 };

static struct slot_sample *slot_samples; /* NULL: none */
static uint32_t fresh_sample;            /* from here on no place was ever used */
static uint32_t freed_sample;            /* 1 and the place of one that was removed, whose node has the next; 0: none */
static uint32_t count;
static atomic_flag slottable_lock = ATOMIC_FLAG_INIT;
static bool fork_locked;

int slottable_init(void)
{
	size_t size = SLOTTABLE_MOST * sizeof *slot_samples;
	void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return errno;
	slot_samples = memory;
	return 0;
}

static bool try_lock(void)
{
	for (int i = 0; slot_samples && i < SLOTTABLE_TRIES; i++) {
		if (!atomic_flag_test_and_set_explicit(&slottable_lock, memory_order_acquire))
			return true;
		if (i % 8 == 7)
			sched_yield();
	}
	return false;
}

static bool lock_in_time(void)
{
	uint64_t end = self_clock() + SLOTTABLE_PATIENCE_MS;
	bool locked = try_lock();
	while (slot_samples && !locked && self_clock() < end)
		locked = try_lock();
	return locked;
}

void slottable_release(void)
{
	atomic_flag_clear_explicit(&slottable_lock, memory_order_release);
}

bool slottable_add(const struct slot_sample *sample)
{
	if (!try_lock())
		return false;
	bool room = freed_sample || fresh_sample < SLOTTABLE_MOST;
	if (room) {
		uint32_t place = freed_sample ? freed_sample - 1 : fresh_sample++;
		if (freed_sample)
			freed_sample = slot_samples[place].node;
		slot_samples[place] = *sample;
		count++;
	}
	slottable_release();
	return room;
}

uint32_t slottable_count(void)
{
	return count;
}

struct slot_sample *slottable_take(uint32_t *places)
{
	if (!lock_in_time())
		return NULL;
	*places = fresh_sample;
	return slot_samples;
}

void slottable_remove(struct slot_sample *sample)
{
	*sample = (struct slot_sample){ .node = freed_sample };
	freed_sample = (uint32_t)(sample - slot_samples) + 1;
	count--;
}

uint32_t slottable_copy(uint32_t *place, struct slot_sample *copies, uint32_t most)
{
	uint32_t copied = 0;
	bool more = true;
	while (more && !copied && lock_in_time()) {
		uint32_t end = fresh_sample - *place > most ? *place + most : fresh_sample;
		for (; *place < end; ++*place)
			if (slot_samples[*place].object)
				copies[copied++] = slot_samples[*place];
		more = end < fresh_sample;
		slottable_release();
	}
	return copied;
}

void slottable_fork(void)
{
	fork_locked = lock_in_time();
}

void slottable_forked_parent(void)
{
	if (fork_locked)
		slottable_release();
	fork_locked = false;
}

bool slottable_forked_child(void)
{
	bool had = slot_samples && fork_locked;
	slottable_forked_parent();
	if (!had)
		slot_samples = NULL;
	return had;
}
