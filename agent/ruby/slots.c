#include "ruby/slots.h"

#include <stdatomic.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <time.h>

#include "epoch.h"
#include "errno_text.h"
#include "ruby/chance.h"
#include "ruby/newobj.h"
#include "ruby/ruby_job.h"
#include "ruby/ruby_stacks.h"
#include "ruby/ruby_tags.h"
#include "ruby/slotstock.h"
#include "ruby/slottable.h"
#include "ruby/stacktree.h"
#include "textbuf.h"

/* Until it is known whether there are samples, a thread looks after so many bytes; where there are none, never again.
 * PRUNE_LEAST: samples may be as many before the first look for dead ones. */
enum { IDLE_BYTES = 16 << 10, PRUNE_LEAST = 8192, CHUNK = 256, SLOTS_OLD = 40, LEAST_SAMPLES = 100 };

enum slots_modes { SLOTS_OFF, SLOTS_WAIT, SLOTS_ON };

static atomic_int slots_mode;
static const char *slots_why_not = "no object can be sampled before Ruby was up, and something was sampled";
static double slots_mean;
static bool has_sizes;
static uintptr_t allocated_key;   /* of GC.stat */
static size_t allocated_before;   /* objects, when it began */
static _Atomic double slots_seen; /* objects since then, estimated */
static atomic_uint slots_missed;  /* samples that were not taken down */
static atomic_uint prune_at;
static uint32_t slots_stocks;
static __thread uint64_t slots_chance __attribute__((tls_model("initial-exec")));

void slots_refuse(const char *why)
{
	slots_why_not = why;
	atomic_store(&slots_mode, SLOTS_OFF);
}

const char *slots_refusal(void)
{
	return slots_why_not;
}

bool slots_asked(void)
{
	return slots_mean > 0;
}

/* ---- in an allocation ---- */

static long slots_idle(void)
{
	switch (atomic_load_explicit(&slots_mode, memory_order_acquire)) {
	case SLOTS_ON: return 0;
	case SLOTS_WAIT: return IDLE_BYTES;
	default: return 1L << 60;
	}
}

static void begin_chance(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	uint64_t x = (uint64_t)now.tv_nsec ^ (uint64_t)now.tv_sec << 30 ^ (uint64_t)(uintptr_t)&slots_chance << 20;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	slots_chance = (x ^ x >> 31) | 1;
}

/* A distance of 0.4 bytes is not one of 0: every byte has its chance. */
static long slots_draw(void)
{
	if (!slots_chance)
		begin_chance();
	return (long)chance_draw(&slots_chance, slots_mean) + 1;
}

/* What is internal has no class, and is not told from what comes after it. */
static bool has_class_yet(VALUE object, unsigned type)
{
	return ((const VALUE *)object)[1] && type != T_IMEMO && type != T_ICLASS;
}

static void note_seen(double objects)
{
	double before = atomic_load_explicit(&slots_seen, memory_order_relaxed);
	while (!atomic_compare_exchange_weak(&slots_seen, &before, before + objects))
		;
}

static bool take_down(VALUE object, struct slot_sample *sample)
{
	sample->id = slotstock_identify(object);
	sample->node = ruby_stacks_take();
	sample->tag = (uint16_t)ruby_tags_now();
	sample->epoch = epoch_is_on() ? epoch_now() : 0;
	return slottable_add(sample);
}

static void slots_take(VALUE object, long size)
{
	unsigned type = *(const VALUE *)object & T_MASK;
	bool serves = ruby_stacks_serve();
	note_seen(1 / chance_of((double)size, slots_mean));
	if (!serves)
		atomic_fetch_add(&slots_missed, 1);
	if (!serves || !has_class_yet(object, type))
		return;
	struct slot_sample sample = { .object = object, .size = (uint16_t)size, .type = (uint8_t)type };
	sample.slot = has_sizes ? (uint16_t)ruby.rb_gc_obj_slot_size(object) : SLOTS_OLD;
	if (!take_down(object, &sample))
		atomic_fetch_add(&slots_missed, 1);
	unsigned count = slottable_count(), limit = atomic_load_explicit(&prune_at, memory_order_relaxed);
	if (count >= limit && (slotstock_is_cheap() || count >= limit + limit / 2))
		ruby_job_here();
}

void slots_init(uint64_t bytes)
{
	static const struct newobj_sampler sampler = { slots_idle, slots_draw, slots_take };
	slots_mean = (double)bytes;
	int error = bytes ? slottable_init() : 0;
	if (!bytes)
		slots_refuse("JPROF_AGENT has slots=off");
	else if (error)
		slots_refuse(errno_text(error));
	if (!bytes || error)
		return;
	newobj_ask(&sampler);
	atomic_store(&slots_mode, SLOTS_WAIT);
}

/* ---- in a job ---- */

static bool is_static(void)
{
	return ruby_api_has((const void *)getauxval(AT_PHDR));
}

static const char *slots_learn_how(void)
{
	const struct newobj_version *version = newobj_start();
	if (!version)
		return "the agent knows how Ruby 3.1 to 4.0 allocate objects";
	if (is_static())
		return "this Ruby is no shared library: nothing can stand between it and its own functions";
	has_sizes = version->has_sizes;
	return slotstock_learn(version);
}

void slots_learn(void)
{
	if (atomic_load(&slots_mode) != SLOTS_WAIT)
		return;
	if (ruby_stacks_refusal()) {
		slots_refuse(ruby_stacks_refusal());
		return;
	}
	slots_refuse("Ruby raised an exception where the agent looked at its objects");
	slots_why_not = slots_learn_how();
	if (slots_why_not)
		return;
	allocated_key = ruby.rb_id2sym(ruby.rb_intern("total_allocated_objects"));
	allocated_before = ruby.rb_gc_stat(allocated_key);
	atomic_store(&prune_at, PRUNE_LEAST);
	atomic_store(&slots_mode, SLOTS_ON);
}

/* Of as many objects, four standard errors below 98 % is not chance: each sample stands for `mean` bytes,
 * and an object has 40 at least. */
static void check_coverage(void)
{
	static char why[120];
	double allocated = (double)(ruby.rb_gc_stat(allocated_key) - allocated_before),
	       samples = allocated * SLOTS_OLD / slots_mean;
	double found = atomic_load(&slots_seen), lacks = 0.98 * allocated - found;
	if (samples < LEAST_SAMPLES || lacks <= 0 || lacks * lacks * samples < 16 * allocated * allocated)
		return;
	snprintf(why, sizeof why,
	         "the agent sees %.0f %% of the objects that this Ruby allocates: its calls do not go by name",
	         100 * found / allocated);
	slots_refuse(why);
}

/* When the samples are twice as many; where the table is nearly full of living ones, with the next dump. */
static void plan_prune(uint32_t live)
{
	uint32_t most = SLOTTABLE_MOST - SLOTTABLE_MOST / 8, next = live > PRUNE_LEAST / 2 ? 2 * live : PRUNE_LEAST;
	atomic_store(&prune_at, live > SLOTTABLE_MOST / 4 * 3 ? UINT32_MAX : next < most ? next : most);
}

uint32_t slots_stock(const char **why)
{
	*why = slots_why_not;
	if (atomic_load(&slots_mode) != SLOTS_ON)
		return 0;
	check_coverage();
	*why = slots_why_not ? slots_why_not : slotstock_take(slots_stocks + 1);
	if (*why)
		return 0;
	plan_prune(slottable_count());
	return ++slots_stocks;
}

void slots_prune(void)
{
	const char *why;
	uint32_t limit = atomic_load(&prune_at);
	if (atomic_load(&slots_mode) == SLOTS_ON && slottable_count() >= limit && !slots_stock(&why))
		atomic_store(&prune_at, limit < SLOTTABLE_MOST / 2 ? 2 * limit : UINT32_MAX); /* not again so soon */
}

/* ---- with a dump ---- */

void slots_use(void)
{
	static struct slot_sample chunk[CHUNK];
	uint32_t place = 0, count;
	while ((count = slottable_copy(&place, chunk, CHUNK)) > 0)
		for (uint32_t i = 0; i < count; i++) {
			stacktree_stock_use(chunk[i].node);
			if (chunk[i].epoch)
				epoch_use(chunk[i].epoch);
			if (chunk[i].tag)
				ruby_tags_use(chunk[i].tag);
		}
}

void slots_each(uint32_t stock, void (*each)(const struct slot_sample *sample, void *arg), void *arg)
{
	static struct slot_sample chunk[CHUNK];
	uint32_t place = 0, count;
	while (stock && (count = slottable_copy(&place, chunk, CHUNK)) > 0)
		for (uint32_t i = 0; i < count; i++)
			if (chunk[i].stock >= stock && chunk[i].id)
				each(&chunk[i], arg);
}

void slots_line(struct textbuf *text)
{
	textbuf_printf(text, "%.0f", slots_mean);
}

static void count_one(const struct slot_sample *sample, void *arg)
{
	(void)sample;
	++*(unsigned *)arg;
}

void slots_json(uint32_t stock, const char *why, struct textbuf *text)
{
	unsigned samples = 0;
	slots_each(stock, count_one, &samples);
	why = slots_why_not ? slots_why_not : why;
	textbuf_printf(text, "{\"rate\":%.0f,\"samples\":%u,\"seen\":%.0f,\"missed\":%u,\"why\":", slots_mean, samples,
	               atomic_load(&slots_seen), atomic_load(&slots_missed));
	textbuf_json(text, why);
	textbuf_str(text, "}");
}

/* ---- forks ---- */

void slots_fork(void)
{
	slottable_fork();
}

void slots_forked_parent(void)
{
	slottable_forked_parent();
}

void slots_forked_child(void)
{
	bool has = slottable_forked_child();
	begin_chance();
	if (!has && atomic_load(&slots_mode) != SLOTS_OFF)
		slots_refuse("this process was forked while another thread was at the samples");
}
