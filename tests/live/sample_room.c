/* What the agent makes of a sampled stack: agent/ruby/sample.c beside a jemalloc and a Ruby made here. The room for
 * what it adds is kept before the stack is taken down; who had the hook before is called; a later one's is left alone.
 */
#include "ruby/sample.h"

#include <stdio.h>

#include "epoch.h"
#include "jemalloc.h"
#include "nativestack.h"
#include "ruby/ruby_interpreter.h"
#include "ruby/ruby_stacks.h"
#include "ruby/ruby_tags.h"
#include "synthetic.h"

enum { NATIVE_MOST = 64, FRAMES = 200, NODE = 7, JOB_NODE = 2, TAG = 3, EPOCH = 5 };
enum { PLAIN = 0x1000, INTERPRETER = 0x2000, JOBS = 0x3000, OURS = 0x4000, ADDED = 0x700000 };

static struct made_world {
	const char *what;
	unsigned max;
	bool serves;           /* Ruby, here */
	unsigned depth;        /* of the native stack */
	unsigned at, function; /* the frame with this number is in this function */
	unsigned wanted_room;  /* that the hook before is called with */
	unsigned wanted_native, wanted_node, wanted_tag, wanted_epoch;
} world;

static backtrace_fn *hook_now;
static unsigned room_given;
static int failures;

static void theirs(void **frames, unsigned *len, unsigned max)
{
	room_given = max;
	for (*len = 0; *len < max && *len < world.depth; (*len)++)
		frames[*len] = (void *)(uintptr_t)(*len == world.at ? world.function : PLAIN);
}

static void a_later_one(void **frames, unsigned *len, unsigned max)
{
	(void)frames, (void)len, (void)max;
}

backtrace_fn *jemalloc_backtrace(void)
{
	return hook_now;
}

bool jemalloc_set_backtrace(backtrace_fn *hook)
{
	hook_now = hook;
	return true;
}

bool jemalloc_unwinds_alike(backtrace_fn *hook)
{
	(void)hook;
	return false;
}

void nativestack_load(void)
{
}

bool nativestack_is_known(void)
{
	return false;
}

unsigned nativestack_until(void **frames, unsigned max, bool (*ends)(const void *), bool *ended)
{
	(void)frames, (void)max, (void)ends, (void)ended;
	return 0;
}

bool nativestack_is_ours(const void *address)
{
	return (uintptr_t)address == OURS;
}

bool ruby_interpreter_has(const void *address)
{
	return (uintptr_t)address == INTERPRETER;
}

bool ruby_interpreter_runs_jobs(const void *address)
{
	return (uintptr_t)address == JOBS;
}

bool ruby_stacks_serve(void)
{
	return world.serves;
}

uint32_t ruby_stacks_take(void)
{
	return NODE;
}

uint32_t ruby_stacks_collector(void)
{
	return 0;
}

uint32_t ruby_stacks_job(void)
{
	return JOB_NODE;
}

uint32_t ruby_tags_now(void)
{
	return TAG;
}

bool epoch_is_on(void)
{
	return true;
}

uint32_t epoch_now(void)
{
	return EPOCH;
}

void *synthetic_address(uint32_t number)
{
	return (void *)((uintptr_t)ADDED + number);
}

static void expect(const char *what, unsigned got, unsigned wanted)
{
	if (got == wanted)
		return;
	printf("FAIL: %s: %s: %u, not %u\n", world.what, what, got, wanted);
	failures++;
}

/* The added numbers stand behind the native frames, in this order; 0: there is none. */
static void sampled(const struct made_world *made)
{
	void *frames[FRAMES];
	unsigned len = 0, at = 0;
	world = *made;
	hook_now(frames, &len, world.max);
	expect("room", room_given, world.wanted_room);
	while (at < len && (uintptr_t)frames[at] < ADDED)
		at++;
	expect("native frames", at, world.wanted_native);
	unsigned wanted[] = { world.wanted_node, world.wanted_tag ? SYNTHETIC_TAGS + world.wanted_tag : 0,
		              world.wanted_epoch ? SYNTHETIC_EPOCHS + world.wanted_epoch : 0 };
	for (unsigned i = 0; i < sizeof wanted / sizeof *wanted; i++)
		if (wanted[i] && at < len)
			expect("what is added", (unsigned)((uintptr_t)frames[at++] - ADDED), wanted[i]);
	expect("all", at, len);
	expect("length", len, world.wanted_native + !!world.wanted_node + !!world.wanted_tag + !!world.wanted_epoch);
}

int main(void)
{
	static const struct made_world worlds[] = {
		{ "jemalloc takes 128 frames", 128, true, 150, 150, 0, NATIVE_MOST, NATIVE_MOST, NODE, TAG, EPOCH },
		{ "no Ruby stack here", 128, false, 150, 150, 0, 125, 125, 0, 0, EPOCH },
		{ "a short stack", 128, true, 9, 9, 0, NATIVE_MOST, 9, NODE, TAG, EPOCH },
		{ "up to the interpreter", 128, true, 40, 12, INTERPRETER, NATIVE_MOST, 12, NODE, TAG, EPOCH },
		{ "the hook's own frame", 128, true, 40, 0, OURS, NATIVE_MOST, 39, NODE, TAG, EPOCH },
		{ "a job, which interrupted whoever has the tag", 128, true, 30, 4, JOBS, NATIVE_MOST, 30, JOB_NODE, 0,
		  EPOCH },
		{ "jemalloc takes 16", 16, true, 150, 150, 0, 13, 13, NODE, TAG, EPOCH },
		{ "15: nothing is added", 15, true, 150, 150, 0, 15, 15, 0, 0, 0 },
		{ "1", 1, true, 150, 150, 0, 1, 1, 0, 0, 0 },
	};
	hook_now = theirs;
	const char *refusal = sample_init(NATIVE_MOST);
	expect("the hook is taken", refusal || hook_now == theirs, false);
	for (size_t i = 0; !failures && i < sizeof worlds / sizeof *worlds; i++)
		sampled(&worlds[i]);
	hook_now = a_later_one;
	sample_watch(nativestack_load);
	expect("a hook that another set later stays", hook_now == a_later_one, true);
	sample_watch(NULL);
	expect("and stays", hook_now == a_later_one, true);
	return failures != 0;
}
