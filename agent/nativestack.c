#include "nativestack.h"

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <unwind.h>

typedef _Unwind_Reason_Code walk_fn(_Unwind_Trace_Fn each, void *arg);

static walk_fn *walk_stack;
static _Unwind_Ptr (*address_of)(struct _Unwind_Context *context);

/* Where this library lies; the linker sets them. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));

void nativestack_load(void)
{
	void *walk = dlsym(RTLD_DEFAULT, "_Unwind_Backtrace"), *address = dlsym(RTLD_DEFAULT, "_Unwind_GetIP");
	*(void **)&walk_stack = walk;
	*(void **)&address_of = address;
}

bool nativestack_is_known(void)
{
	return walk_stack && address_of;
}

bool nativestack_is_ours(const void *address)
{
	return (uintptr_t)address - (uintptr_t)__ehdr_start < (uintptr_t)etext - (uintptr_t)__ehdr_start;
}

struct walk {
	void **frames;
	unsigned len, max;
	bool (*ends)(const void *);
	bool ended;
};

static _Unwind_Reason_Code on_frame(struct _Unwind_Context *context, void *arg)
{
	struct walk *walk = arg;
	void *address = (void *)address_of(context);
	if (!address)
		return _URC_END_OF_STACK;
	if (nativestack_is_ours(address))
		return _URC_NO_REASON;
	if (walk->ends && walk->ends(address)) {
		walk->ended = true;
		return _URC_END_OF_STACK;
	}
	walk->frames[walk->len++] = address;
	return walk->len < walk->max ? _URC_NO_REASON : _URC_END_OF_STACK;
}

unsigned nativestack_until(void **frames, unsigned max, bool (*ends)(const void *), bool *ended)
{
	struct walk walk = { frames, 0, max, ends, false };
	if (max > 0)
		walk_stack(on_frame, &walk);
	*ended = walk.ended;
	return walk.len;
}

unsigned nativestack_all(void **frames, unsigned max)
{
	bool ended;
	return nativestack_until(frames, max, NULL, &ended);
}

struct native_search {
	bool (*is)(const void *);
	unsigned left;
	bool found;
};

static _Unwind_Reason_Code look_at_frame(struct _Unwind_Context *context, void *arg)
{
	struct native_search *search = arg;
	void *address = (void *)address_of(context);
	if (!address)
		return _URC_END_OF_STACK;
	search->found = search->left-- == 0 || search->is(address);
	return search->found ? _URC_END_OF_STACK : _URC_NO_REASON;
}

bool nativestack_may_have(bool (*is)(const void *))
{
	enum { MOST = 4000 };
	struct native_search search = { .is = is, .left = MOST };
	walk_stack(look_at_frame, &search);
	return search.found;
}
