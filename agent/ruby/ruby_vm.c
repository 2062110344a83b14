#include "ruby/ruby_vm.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "code_range.h"
#include "nativestack.h"
#include "ruby/ruby_api.h"

static void *const *vm;
static struct code_range destruct; /* ruby_vm_destruct; empty: not known */
static atomic_bool ending;

/* Ruby's variable for each thread lies as far from this one in every thread: both are in the block that the loader
 * makes with the thread, for both libraries were there when the program started. */
static __thread char mark __attribute__((tls_model("initial-exec")));
static uintptr_t context_distance;

/* A variable that does not lie in Ruby, or is set before main, is another one. */
static bool may_be_vm(void *const *variable)
{
	return variable && (uintptr_t)variable % sizeof *variable == 0 && ruby_api_has(variable) && !*variable;
}

void ruby_vm_find(void)
{
	void *const *found = ruby.ruby_current_vm_ptr;
	if (!found && ruby.rb_during_gc)
		found = ruby_head_variable((const void *)(uintptr_t)ruby.rb_during_gc);
	vm = may_be_vm(found) ? found : NULL;
	nativestack_load();
	if (ruby.ruby_vm_destruct)
		code_range_find(ruby_api_image(), (uintptr_t)ruby.ruby_vm_destruct, &destruct);
	if (ruby.ruby_current_ec)
		context_distance = (uintptr_t)ruby.ruby_current_ec - (uintptr_t)&mark;
}

bool ruby_vm_known(void)
{
	return vm != NULL;
}

/* The main thread has none after the VM began to go: then the object that ruby_thread_has_gvl_p reads is freed, while
 * functions of extensions still run (ruby_vm_at_exit). */
static bool has_context(void)
{
	VALUE frame;
	int line;
	if (ruby.ruby_current_ec)
		return *(void *const *)((uintptr_t)&mark + context_distance) != NULL;
	return ruby.rb_profile_frames(0, 1, &frame, &line) > 0;
}

/* rb_profile_frames looks for the context itself from Ruby 3.3 on. */
bool ruby_vm_shows_context(void)
{
	return ruby.ruby_current_ec || (ruby.rb_postponed_job_trigger && ruby.rb_profile_frames);
}

bool ruby_vm_shows_end(void)
{
	return destruct.begin && ruby.ruby_native_thread_p && nativestack_is_known();
}

static bool takes_down(const void *address)
{
	return code_range_has(&destruct, (uintptr_t)address - 1);
}

bool ruby_vm_stands(void)
{
	return vm && *(void *const volatile *)vm && *ruby.rb_cComplex && ruby.ruby_native_thread_p() &&
	       !nativestack_may_have(takes_down);
}

void ruby_vm_ends(void)
{
	atomic_store(&ending, true);
}

bool ruby_vm_is_ending(void)
{
	return atomic_load_explicit(&ending, memory_order_relaxed);
}

/* On one of its threads, that has the lock. */
static bool is_at_work(void)
{
	return vm && *(void *const volatile *)vm && *ruby.rb_cComplex && ruby.ruby_thread_has_gvl_p();
}

bool ruby_vm_serves(void)
{
	return is_at_work() && !ruby.rb_during_gc() && has_context();
}

bool ruby_vm_collects(void)
{
	return is_at_work() && ruby.rb_during_gc();
}

bool ruby_vm_is_alone(void)
{
	bool can_trigger = ruby.rb_postponed_job_preregister && ruby.rb_postponed_job_trigger;
	return can_trigger || !ruby.ruby_single_main_ractor || *ruby.ruby_single_main_ractor;
}
