#include "ruby/sample.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "epoch.h"
#include "jemalloc.h"
#include "nativestack.h"
#include "ruby/ruby_interpreter.h"
#include "ruby/ruby_stacks.h"
#include "ruby/ruby_tags.h"
#include "synthetic.h"

enum { ADDED_MAX = 3, LEAST = 16 };

static backtrace_fn *before_backtrace; /* jemalloc's own, or another's */
static bool before_is_known;           /* it does no more than what nativestack.h does */
static bool adds;
static unsigned native_max;
static _Atomic(void (*)(void)) watching;

/* What is taken down of a native stack. */
struct native {
	void **frames;
	unsigned *len;
	bool passes_jobs;
};

/* The stack is to be that of a process without the agent: the frame of the hook goes. */
static void remove_ours(void **frames, unsigned *len)
{
	unsigned kept = 0;
	for (unsigned i = 0; i < *len; i++)
		if (!nativestack_is_ours(frames[i]))
			frames[kept++] = frames[i];
	*len = kept;
}

static void end_at_interpreter(void **frames, unsigned *len)
{
	for (unsigned i = 0; i < *len; i++)
		if (ruby_interpreter_has(frames[i]))
			*len = i;
}

/* All of it, or what is in front of the interpreter. */
static void take_native(void **frames, unsigned *len, unsigned max, bool to_interpreter)
{
	bool ended;
	if (before_is_known && to_interpreter) {
		*len = nativestack_until(frames, max, ruby_interpreter_has, &ended);
		return;
	}
	before_backtrace(frames, len, max);
	remove_ours(frames, len);
	if (to_interpreter)
		end_at_interpreter(frames, len);
}

static bool passes_jobs(void *const *frames, unsigned len)
{
	for (unsigned i = 0; i < len; i++)
		if (ruby_interpreter_runs_jobs(frames[i]))
			return true;
	return false;
}

static void add(void **frames, unsigned *len, uint32_t number)
{
	frames[(*len)++] = synthetic_address(number);
}

static void take_and_add(void **frames, unsigned *len, unsigned max)
{
	unsigned room = max - ADDED_MAX;
	bool ruby = ruby_stacks_serve();
	uint32_t collector = ruby ? 0 : ruby_stacks_collector();
	bool known = ruby || collector;
	take_native(frames, len, known && native_max < room ? native_max : room, known);
	bool job = ruby && passes_jobs(frames, *len);
	uint32_t node = !ruby ? collector : job ? ruby_stacks_job() : ruby_stacks_take();
	uint32_t tag = ruby && !job ? ruby_tags_now() : 0; /* a job's would be that of whoever it interrupted */
	if (node)
		add(frames, len, SYNTHETIC_NODES + node);
	if (tag)
		add(frames, len, SYNTHETIC_TAGS + tag);
	if (epoch_is_on())
		add(frames, len, SYNTHETIC_EPOCHS + epoch_now());
}

static void on_sampled(void **frames, unsigned *len, unsigned max)
{
	void (*watch)(void) = atomic_load(&watching);
	if (adds && max >= LEAST) {
		take_and_add(frames, len, max);
	} else {
		before_backtrace(frames, len, max);
		remove_ours(frames, len);
	}
	if (watch)
		watch();
}

/* Who sets a hook later keeps it, and may call this one. */
static bool install(void)
{
	backtrace_fn *now = jemalloc_backtrace();
	if (!before_backtrace)
		before_backtrace = now;
	return now && (now == on_sampled || (now == before_backtrace && jemalloc_set_backtrace(on_sampled)));
}

const char *sample_refusal(void)
{
	return jemalloc_backtrace() ? NULL
	                            : "this jemalloc has no hook for the stacks that it samples: 5.3 and later have";
}

const char *sample_init(unsigned native)
{
	nativestack_load();
	native_max = native;
	before_is_known = nativestack_is_known() && jemalloc_unwinds_alike(jemalloc_backtrace());
	adds = true;
	return install() ? NULL : "jemalloc refused the hook for the stacks that it samples";
}

void sample_watch(void (*watch)(void))
{
	bool installs = watch && !atomic_exchange(&watching, watch);
	if (!watch)
		atomic_store(&watching, NULL);
	if (installs)
		install();
	else if (!watch && !adds && before_backtrace && jemalloc_backtrace() == on_sampled)
		jemalloc_set_backtrace(before_backtrace);
}
